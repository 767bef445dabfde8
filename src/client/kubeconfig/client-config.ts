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
  /** `--master`: another server than that of the context. */
  readonly server?: string;
  /** `--cluster` and `--user`: other entries of the kubeconfig than those of the context. */
  readonly cluster?: string;
  readonly user?: string;
  /** Command-line fields that override those of the entries. File paths in them are used unchanged. */
  readonly clusterFields?: Partial<KubeconfigCluster>;
  readonly userFields?: Partial<KubeconfigUser>;
}

/**
 * The configuration from a kubeconfig that kubectl would use. If there is none or it is empty, and no context is requested, it comes from
 * the pod in which this runs. Throws {@link KubeconfigError}.
 */
export async function loadClientConfig(options: ClientConfigOptions): Promise<ClientConfig> {
  const { io, clock, path, context, server } = options;
  const kubeconfig = await loadKubeconfig(path === undefined ? { io } : { io, path });
  if (kubeconfig === undefined || isEmptyKubeconfig(kubeconfig)) {
    // A pod's cluster has no contexts, so a requested context belongs to a missing file.
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

/** Like `kubectl --server` without a context: nothing else is known about that server, and there are no credentials. */
function nobodyAt(server: string): SelectedContext {
  return { name: '--master', namespace: 'default', cluster: { server, insecureSkipTlsVerify: false }, user: {} };
}

/** The TLS server name of the context does not apply to another server (client-go `tools/clientcmd`). */
function withServer(selected: SelectedContext, server: string): SelectedContext {
  const { tlsServerName: _, ...cluster } = selected.cluster;
  return { ...selected, cluster: { ...cluster, server } };
}

/** A user name on the command line replaces the one in the file (client-go `tools/clientcmd`). */
function withFields(
  selected: SelectedContext,
  { clusterFields = {}, userFields = {} }: ClientConfigOptions,
): SelectedContext {
  const cluster: KubeconfigCluster = { ...selected.cluster, ...clusterFields };
  const isAuthorityFile = clusterFields.certificateAuthority !== undefined;
  // Nothing is verified in this case, so an authority in the file is no contradiction.
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

/** Resolves a context and reads its files. */
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
 * The credentials of a user, which are never sent unencrypted (client-go `ClientConfig`: "if we are secure"). `cluster` is the information
 * for a credential program, with the authority as data.
 */
async function proofOf(
  user: KubeconfigUser,
  cluster: KubeconfigCluster,
  { io, clock }: Pick<ClientConfigOptions, 'io' | 'clock'>,
): Promise<Proof> {
  const certificate = await certificateOf(user, { io, clock });
  const bearer = bearerOf(user, { io, clock });
  // Other credentials of a user take precedence (client-go `exec.UpdateTransportConfig`).
  const program = bearer === undefined && certificate === undefined ? user.exec : undefined;
  const exec = program && execCredentials({ exec: program, cluster, io, clock });
  return { certificate: certificate ?? exec, bearer: bearer ?? exec };
}

function hasCertificate({ clientCertificate, clientCertificateData }: KubeconfigUser): boolean {
  return clientCertificate !== undefined || clientCertificateData !== undefined;
}

/** A server may be given without a scheme: it is https if any TLS setting is present, as in client-go. */
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
  // Data never changes, and a file beside it would not match it after a change.
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
  // The tokenFile takes precedence over the token, because only a file can be renewed.
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
      // Each part recognizes the headers that it issued, and ignores older ones.
      const own = carried === last?.all ? last.own : carried;
      bearer?.rejected?.(own);
      certificate?.rejected?.(own);
    },
  };
}
