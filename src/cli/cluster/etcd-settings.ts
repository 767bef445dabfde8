import { readFile } from 'node:fs/promises';
import { CommandError, systemReason } from '../process/command-error.ts';

/** Values of the command line, as a person typed them. */
export interface EtcdFlags {
  readonly etcdEndpoints?: readonly string[];
  /** kube-apiserver's name for the same flag. */
  readonly etcdServers?: readonly string[];
  readonly etcdPrefix: string;
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly etcdUsername?: string;
  readonly etcdPasswordFile?: string;
}

/** The validated settings of etcd, with the contents of the files. */
export interface EtcdSettings {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly tls: { readonly caPem?: string; readonly certPem?: string; readonly keyPem?: string };
  readonly credentials?: { readonly username: string; readonly password: string };
}

const DEFAULT_PORT = 2379;

/** Undefined for another store. Throws a {@link CommandError} that names the flag. */
export async function etcdSettings(store: string, flags: EtcdFlags): Promise<EtcdSettings | undefined> {
  const { etcdCafile, etcdCertfile, etcdKeyfile, etcdUsername, etcdPasswordFile, etcdPrefix } = flags;
  const given = [...(flags.etcdEndpoints ?? []), ...(flags.etcdServers ?? [])];
  if (store !== 'etcd') {
    const stray = [given[0], etcdCafile, etcdCertfile, etcdKeyfile, etcdUsername, etcdPasswordFile];
    if (stray.every((value) => value === undefined)) return undefined;
    throw new CommandError(
      `the flags --etcd-… do nothing with --store ${store}`,
      'Give --store etcd, or leave them away.',
    );
  }
  const endpoints = [...new Set(given.flatMap((list) => list.split(',')).map((text) => endpointOf(text.trim())))];
  if (endpoints.length === 0) {
    throw new CommandError(
      '--store etcd needs to know where etcd is',
      'Give --etcd-endpoints https://HOST:2379, with all members separated by commas.',
    );
  }
  const encrypted = endpoints.filter((endpoint) => endpoint.startsWith('https:'));
  if (encrypted.length !== 0 && encrypted.length !== endpoints.length) {
    throw new CommandError('some of --etcd-endpoints are https and some are http', 'Give all members in the same way.');
  }
  if (encrypted.length === 0 && [etcdCafile, etcdCertfile, etcdKeyfile].some((file) => file !== undefined)) {
    throw new CommandError(
      '--etcd-cafile, --etcd-certfile and --etcd-keyfile are for https, and --etcd-endpoints are http',
      'Give https:// endpoints, or leave the files away.',
    );
  }
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new CommandError(
      'a client certificate and its key belong together',
      'Give --etcd-certfile and --etcd-keyfile.',
    );
  }
  if ((etcdUsername === undefined) !== (etcdPasswordFile === undefined)) {
    throw new CommandError('a user and a password belong together', 'Give --etcd-username and --etcd-password-file.');
  }
  if (!/^(\/[\w.-]+)+\/?$/.test(etcdPrefix)) {
    throw new CommandError(
      `invalid --etcd-prefix "${etcdPrefix}"`,
      'Give a path of letters, digits, dots, dashes and underscores, such as /registry.',
    );
  }
  const [caPem, certPem, keyPem, password] = await Promise.all([
    contentOf('--etcd-cafile', etcdCafile),
    contentOf('--etcd-certfile', etcdCertfile),
    contentOf('--etcd-keyfile', etcdKeyfile),
    contentOf('--etcd-password-file', etcdPasswordFile),
  ]);
  return {
    endpoints,
    prefix: etcdPrefix,
    tls: {
      ...(caPem === undefined ? {} : { caPem }),
      ...(certPem === undefined ? {} : { certPem }),
      ...(keyPem === undefined ? {} : { keyPem }),
    },
    ...(etcdUsername === undefined || password === undefined
      ? {}
      : { credentials: { username: etcdUsername, password: password.trimEnd() } }),
  };
}

function endpointOf(text: string): string {
  const [, scheme, host, port = String(DEFAULT_PORT)] =
    /^(https?):\/\/(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/.exec(text) ?? [];
  if (scheme === undefined || host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new CommandError(
      `invalid --etcd-endpoints entry "${text}"`,
      'Give http:// or https://, the host and the port, for example https://10.0.0.5:2379.',
    );
  }
  return `${scheme}://${host}:${port}`;
}

async function contentOf(flag: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${systemReason(error)}`, `See ${flag}.`, { cause: error });
  }
}
