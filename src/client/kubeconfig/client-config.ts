import type { Clock } from '../../base/time/clock.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import { certificateFiles } from './certificate-files.ts';
import { bearerToken, type ClientConfig, type Credentials, parseServer } from '../http/connect-options.ts';
import { execCredentials } from './exec-credentials.ts';
import { impersonationHeaders } from './impersonation-headers.ts';
import { inClusterConfig } from './in-cluster-config.ts';
import {
  type Impersonation,
  isEmptyKubeconfig,
  type KubeconfigCluster,
  KubeconfigError,
  type KubeconfigUser,
  loadKubeconfig,
  type SelectedContext,
  selectContext,
} from './kubeconfig.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';
import { checkAuthority, checkClientCertificate, readPem } from './tls-material.ts';
import { tokenFile } from './token-file.ts';

export interface ClientConfigOptions {
  readonly io: KubeconfigIo;
  readonly clock: Clock;
  /** `--kubeconfig` */
  readonly path?: string;
  /** `--context` */
  readonly context?: string;
  /** `--master`: another server than the context's. */
  readonly server?: string;
  /** `--cluster` and `--user`: other entries of the kubeconfig than the context's. */
  readonly cluster?: string;
  readonly user?: string;
  /** Fields of the command line that replace those of the entries. Files in them are read as they stand. */
  readonly clusterFields?: Partial<KubeconfigCluster>;
  readonly userFields?: Partial<KubeconfigUser>;
}

/**
 * From a kubeconfig as kubectl finds it; if there is none or nothing in it, and no context is asked for, from the pod this runs in.
 * Throws {@link KubeconfigError}.
 */
export async function loadClientConfig(options: ClientConfigOptions): Promise<ClientConfig> {
  const { io, clock, path, context, server } = options;
  const kubeconfig = await loadKubeconfig(path === undefined ? { io } : { io, path });
  if (kubeconfig === undefined || isEmptyKubeconfig(kubeconfig)) {
    // A pod's cluster has no contexts: whoever names one means another, whose file is not there.
    if (context !== undefined) throw new KubeconfigError(`context ${JSON.stringify(context)} does not exist`);
    const inCluster = await inClusterConfig({ io, clock });
    if (inCluster !== undefined) return server === undefined ? inCluster : { ...inCluster, server };
    if (server !== undefined) return await clientConfigOf(withFields(nobodyAt(server), options), { io, clock });
    throw new KubeconfigError(
      'no configuration: neither --kubeconfig, KUBECONFIG nor ~/.kube/config name one, and this is no pod',
    );
  }
  const isNoContext = (context ?? kubeconfig.currentContext) === '';
  const isUnnamed = server !== undefined && isNoContext && options.cluster === undefined && options.user === undefined;
  const selected = isUnnamed ? nobodyAt(server) : selectContext(kubeconfig, context, options);
  const placed = server === undefined ? selected : withServer(selected, server);
  const config = await clientConfigOf(withFields(placed, options), { io, clock });
  if (config.proxyUrl !== undefined && !parseServer(config.server).secure) {
    throw new KubeconfigError('proxy-url needs an https server');
  }
  return config;
}

/** As `kubectl --server` without a context: nothing else is known of that server, and nobody signs in. */
function nobodyAt(server: string): SelectedContext {
  return { name: '--master', namespace: 'default', cluster: { server, insecureSkipTlsVerify: false }, user: {} };
}

/** The name in the certificate of the context's server says nothing of another one's (client-go `tools/clientcmd`). */
function withServer(selected: SelectedContext, server: string): SelectedContext {
  const { tlsServerName: _, ...cluster } = selected.cluster;
  return { ...selected, cluster: { ...cluster, server } };
}

/** A user that is named otherwise on the command line shows that, and not what stands in the file (client-go `tools/clientcmd`). */
function withFields(
  selected: SelectedContext,
  { clusterFields = {}, userFields = {} }: ClientConfigOptions,
): SelectedContext {
  const cluster: KubeconfigCluster = { ...selected.cluster, ...clusterFields };
  const isAuthorityFile = clusterFields.certificateAuthority !== undefined;
  // Nothing is checked then, so that an authority in the file does not contradict it.
  const skips = clusterFields.insecureSkipTlsVerify === true;
  const { certificateAuthorityData: _data, certificateAuthority: _file, ...bare } = cluster;
  const { impersonate, token, username, password, clientCertificate, clientKey } = userFields;
  const hasProof = [token, username, password, clientCertificate, clientKey].some((each) => each !== undefined);
  const { impersonate: before } = selected.user;
  const acting = impersonate ?? before;
  const user: KubeconfigUser = hasProof
    ? { ...userFields, ...(acting === undefined ? {} : { impersonate: acting }) }
    : { ...selected.user, ...userFields };
  return {
    ...selected,
    cluster: skips
      ? bare
      : isAuthorityFile
        ? { ...bare, certificateAuthority: clusterFields.certificateAuthority ?? '' }
        : cluster,
    user,
  };
}

/** A context with its files read. */
async function clientConfigOf(
  { name, namespace, cluster, user }: SelectedContext,
  { io, clock }: Pick<ClientConfigOptions, 'io' | 'clock'>,
): Promise<ClientConfig> {
  const { certificateAuthority, insecureSkipTlsVerify, tlsServerName } = cluster;
  const caPem = cluster.certificateAuthorityData ?? (certificateAuthority && (await readPem(io, certificateAuthority)));
  if (insecureSkipTlsVerify && caPem !== undefined) {
    throw new KubeconfigError('specifying a root certificates file with the insecure flag is not allowed');
  }
  if (caPem !== undefined) {
    checkAuthority(
      caPem,
      cluster.certificateAuthorityData ? 'certificate-authority-data' : (certificateAuthority ?? ''),
    );
  }
  const saysTls = insecureSkipTlsVerify || caPem !== undefined || hasCertificate(user);
  const server = serverUrl(cluster.server, saysTls);
  const told = caPem === undefined ? cluster : { ...cluster, certificateAuthorityData: caPem };
  const proof = parseServer(server).secure ? await proofOf(user, told, { io, clock }) : {};
  return {
    server,
    namespace,
    source: name,
    insecureSkipTlsVerify,
    credentials: combined({ ...proof, impersonate: user.impersonate }),
    ...(caPem === undefined ? {} : { caPem }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(cluster.proxyUrl === undefined ? {} : { proxyUrl: cluster.proxyUrl }),
  };
}

/**
 * The credentials of a user, which are never sent unencrypted (client-go `ClientConfig`: "if we are secure").
 * `cluster` is the information for a program, with the authority as data, wherever it was written.
 */
async function proofOf(
  user: KubeconfigUser,
  cluster: KubeconfigCluster,
  { io, clock }: Pick<ClientConfigOptions, 'io' | 'clock'>,
): Promise<Proof> {
  const certificate = await certificateOf(user, { io, clock });
  const bearer = bearerOf(user, { io, clock });
  // A user with other credentials wants those to be used (client-go `exec.UpdateTransportConfig`).
  const program = bearer === undefined && certificate === undefined ? user.exec : undefined;
  const exec = program && execCredentials({ exec: program, cluster, io, clock });
  return { certificate: certificate ?? exec, bearer: bearer ?? exec };
}

function hasCertificate({ clientCertificate, clientCertificateData }: KubeconfigUser): boolean {
  return clientCertificate !== undefined || clientCertificateData !== undefined;
}

/** A server may be named without a scheme: it is https if anything is said of TLS, as for client-go. */
function serverUrl(server: string, secured: boolean): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `${secured ? 'https' : 'http'}://${server}`;
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'https:' || protocol === 'http:') return url;
  throw new KubeconfigError(`server ${JSON.stringify(server)} is neither an http or https URL nor HOST:PORT`);
}

async function certificateOf(
  user: KubeconfigUser,
  { io, clock }: Pick<ClientConfigOptions, 'io' | 'clock'>,
): Promise<CertificateSource | undefined> {
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData } = user;
  const data = clientCertificateData ?? clientKeyData;
  if (data === undefined && clientCertificate !== undefined && clientKey !== undefined) {
    return await certificateFiles({ certificate: clientCertificate, key: clientKey, io, clock });
  }
  // Data does not change, and a file beside it would not match it any more.
  const certPem = clientCertificateData ?? (clientCertificate && (await readPem(io, clientCertificate)));
  const keyPem = clientKeyData ?? (clientKey && (await readPem(io, clientKey)));
  if (certPem === undefined && keyPem === undefined) return undefined;
  if (certPem === undefined || keyPem === undefined)
    throw new KubeconfigError('a client certificate needs its key, and a key its certificate');
  checkClientCertificate({ certPem, keyPem });
  return { certificate: () => ({ certPem, keyPem }) };
}

function bearerOf(
  user: KubeconfigUser,
  { io, clock }: Pick<ClientConfigOptions, 'io' | 'clock'>,
): Credentials | undefined {
  const basic = user.username !== undefined || user.password !== undefined;
  const token = user.token !== undefined || user.tokenFile !== undefined;
  if (basic && token) throw new KubeconfigError('more than one authentication method found; found [basicAuth token]');
  // The tokenFile counts before the token, because only a file can be renewed.
  if (user.tokenFile !== undefined) return tokenFile({ path: user.tokenFile, io, clock });
  if (user.token !== undefined) return bearerToken(user.token);
  if (!basic) return undefined;
  const pair = Buffer.from(`${user.username ?? ''}:${user.password ?? ''}`, 'utf8').toString('base64');
  return { headers: () => ({ authorization: `Basic ${pair}` }) };
}

type CertificateSource = Pick<Credentials, 'certificate' | 'rejected'>;

interface Proof {
  readonly certificate?: CertificateSource | undefined;
  readonly bearer?: Credentials | undefined;
}

function combined({
  certificate,
  bearer,
  impersonate,
}: Proof & { readonly impersonate: Impersonation | undefined }): Credentials {
  const extra = impersonate && impersonationHeaders(impersonate);
  let last: { readonly own: HttpHeaders; readonly all: HttpHeaders } | undefined;
  return {
    async headers() {
      const own = (await bearer?.headers()) ?? {};
      if (last?.own !== own) last = { own, all: { ...own, ...extra } };
      return last.all;
    },
    ...(certificate?.certificate === undefined ? {} : { certificate: () => certificate.certificate?.() }),
    rejected(carried) {
      // The parts know by themselves the headers they gave. Older ones than the last are nothing to any of them.
      const own = carried === last?.all ? last.own : carried;
      bearer?.rejected?.(own);
      certificate?.rejected?.(own);
    },
  };
}
