import { parseYaml } from '../../api/codec/yaml/yaml.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';
import { isProxyUrl } from '../http/tunnel.ts';

export { renderKubeconfig, type RenderKubeconfigOptions } from './render-kubeconfig.ts';

/** An unusable kubeconfig, with the reason. */
export class KubeconfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KubeconfigError';
  }
}

export interface KubeconfigCluster {
  readonly server: string;
  readonly certificateAuthority?: string;
  /** PEM, decoded. */
  readonly certificateAuthorityData?: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  /** The cluster's extension for `exec` programs, unchanged. */
  readonly execConfig?: unknown;
}

/** `user.exec`: a program that prints credentials (client.authentication.k8s.io). {@link selectContext} refuses unsupported ones. */
export interface ExecConfig {
  /** Empty if the file does not set it, as are apiVersion and interactiveMode. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  /** `Never`, `IfAvailable` or `Always`. */
  readonly interactiveMode: string;
}

export interface KubeconfigUser {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly clientCertificate?: string;
  /** Decoded PEM, like the key. */
  readonly clientCertificateData?: string;
  readonly clientKey?: string;
  readonly clientKeyData?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecConfig;
  /** Name of the old in-tree plug-in, which no longer exists. */
  readonly authProvider?: string;
  readonly impersonate?: Impersonation;
}

export interface Impersonation {
  /** Empty if the file sets only the other fields, which {@link selectContext} refuses. */
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** `as-user-extra`. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** One file, or several merged. */
export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
}

export interface ParseOptions {
  /** The base directory of relative paths in the file; if absent, they stay unchanged. */
  readonly directory?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a kubeconfig file (client-go `tools/clientcmd/api/v1`) in kubectl's YAML; JSON is YAML too. Errors of a user or cluster concern
 * only the contexts that use it. Throws {@link KubeconfigError}.
 */
export function parseKubeconfig(text: string, { directory }: ParseOptions = {}): Kubeconfig {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    throw new KubeconfigError(`not YAML: ${messageOf(error)}`, { cause: error });
  }
  // kubectl treats an empty file as an empty configuration.
  const root = document === null || document === undefined ? {} : fieldsOf(document, 'kubeconfig');
  if (root['kind'] !== undefined && root['kind'] !== 'Config')
    throw new KubeconfigError(`kind is ${JSON.stringify(root['kind'])}, not "Config"`);
  const path = (value: string | undefined): string | undefined => resolvePath(value, directory);
  return {
    currentContext: textOf(root, 'current-context') ?? '',
    clusters: named(root, 'clusters', 'cluster', (fields) => clusterOf(fields, path)),
    users: named(root, 'users', 'user', (fields) => userOf(fields, path)),
    contexts: named(root, 'contexts', 'context', contextOf),
  };
}

/** Merges the files of `KUBECONFIG`: the first file with an entry, or with a current context, wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const first = <V>(maps: readonly ReadonlyMap<string, V>[]): ReadonlyMap<string, V> =>
    new Map(maps.toReversed().flatMap((map) => [...map]));
  return {
    currentContext: configs.find((config) => config.currentContext !== '')?.currentContext ?? '',
    clusters: first(configs.map((config) => config.clusters)),
    users: first(configs.map((config) => config.users)),
    contexts: first(configs.map((config) => config.contexts)),
  };
}

/** True for an empty configuration, which `KUBECONFIG=/dev/null` produces (client-go `clientcmd.IsEmptyConfig`). */
export function isEmptyKubeconfig({ currentContext, clusters, users, contexts }: Kubeconfig): boolean {
  return currentContext === '' && clusters.size === 0 && users.size === 0 && contexts.size === 0;
}

export interface LoadOptions {
  readonly io: Pick<KubeconfigIo, 'env' | 'homeDirectory' | 'pathListSeparator' | 'readFile'>;
  /** `--kubeconfig`: only this file, which must exist. */
  readonly path?: string;
}

/**
 * The configuration that kubectl would use: the given file, otherwise those of `KUBECONFIG`, otherwise `~/.kube/config`. Missing files are
 * skipped except the given one. Undefined if there is none.
 */
export async function loadKubeconfig({ io, path }: LoadOptions): Promise<Kubeconfig | undefined> {
  if (path !== undefined) return await readConfig(io, path);
  const list = (io.env['KUBECONFIG'] ?? '').split(io.pathListSeparator).filter((entry) => entry !== '');
  const paths = list.length > 0 ? list : [`${io.homeDirectory}/.kube/config`];
  const configs: Kubeconfig[] = [];
  for (const candidate of new Set(paths)) {
    try {
      configs.push(await readConfig(io, candidate));
    } catch (error) {
      if (!(error instanceof KubeconfigError && isMissing(error.cause))) throw error;
    }
  }
  return configs.length === 0 ? undefined : mergeKubeconfigs(configs);
}

async function readConfig(io: LoadOptions['io'], path: string): Promise<Kubeconfig> {
  try {
    return parseKubeconfig(await io.readFile(path), { directory: directoryOf(path) });
  } catch (error) {
    throw new KubeconfigError(`${path}: ${isMissing(error) ? 'no such file' : messageOf(error)}`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function directoryOf(path: string): string {
  const end = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return end < 0 ? '.' : path.slice(0, Math.max(end, 1));
}

/** A context with its cluster and its user. */
export interface SelectedContext {
  readonly name: string;
  readonly namespace: string;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

/**
 * The named context, or the current one, with another cluster or user if given; if both are given, no context is needed. Throws {@link
 * KubeconfigError} for missing or unsupported entries.
 */
export function selectContext(
  config: Kubeconfig,
  name: string = config.currentContext,
  other: { readonly cluster?: string; readonly user?: string } = {},
): SelectedContext {
  const context = chosenContext(config, name, other);
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined) throw new KubeconfigError(`cluster ${JSON.stringify(context.cluster)} does not exist`);
  const user = context.user === '' ? NOBODY : config.users.get(context.user);
  if (user === undefined) throw new KubeconfigError(`auth info ${JSON.stringify(context.user)} does not exist`);
  if (cluster.server === '') throw new KubeconfigError(`cluster ${JSON.stringify(context.cluster)} has no server`);
  if (cluster.proxyUrl !== undefined) checkProxy(cluster.proxyUrl);
  if (user.authProvider !== undefined) {
    throw new KubeconfigError(`user ${JSON.stringify(context.user)}: auth-provider is not supported; use exec`);
  }
  if (user.exec !== undefined) checkExec(user.exec, context.user);
  if (user.impersonate?.user === '') {
    const who = JSON.stringify(context.user);
    throw new KubeconfigError(`requesting uid, groups or user-extra for ${who} without impersonating a user`);
  }
  return { name, namespace: context.namespace ?? 'default', cluster, user };
}

function chosenContext(
  config: Kubeconfig,
  name: string,
  { cluster, user }: { readonly cluster?: string; readonly user?: string },
): KubeconfigContext {
  if (name === '' && cluster !== undefined) return { cluster, user: user ?? '' };
  if (name === '') throw new KubeconfigError('current-context is not set');
  const context = config.contexts.get(name);
  if (context === undefined) throw new KubeconfigError(`context ${JSON.stringify(name)} does not exist`);
  return { ...context, ...(cluster === undefined ? {} : { cluster }), ...(user === undefined ? {} : { user }) };
}

function checkProxy(proxyUrl: string): void {
  if (!isProxyUrl(proxyUrl)) {
    throw new KubeconfigError(`proxy-url ${JSON.stringify(proxyUrl)} is no http, https or socks5 URL`);
  }
}

function checkExec({ command, apiVersion, interactiveMode }: ExecConfig, user: string): void {
  const refuse = (what: string): KubeconfigError => new KubeconfigError(`user ${JSON.stringify(user)}: exec: ${what}`);
  if (command === '') throw refuse('command must be specified');
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    throw refuse(`unsupported apiVersion ${JSON.stringify(apiVersion)}`);
  }
  if (!['Never', 'IfAvailable', 'Always'].includes(interactiveMode)) {
    throw refuse(`interactiveMode must be Never, IfAvailable or Always, not ${JSON.stringify(interactiveMode)}`);
  }
}

const NOBODY: KubeconfigUser = {};

function clusterOf(fields: Fields, path: (value: string | undefined) => string | undefined): KubeconfigCluster {
  return defined({
    server: textOf(fields, 'server') ?? '',
    certificateAuthority: path(textOf(fields, 'certificate-authority')),
    certificateAuthorityData: dataOf(fields, 'certificate-authority-data'),
    insecureSkipTlsVerify: flagOf(fields, 'insecure-skip-tls-verify'),
    tlsServerName: textOf(fields, 'tls-server-name'),
    proxyUrl: textOf(fields, 'proxy-url'),
    execConfig: extensionOf(fields, EXEC_EXTENSION),
  });
}

/** client-go's name of the extension for `exec` programs. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function extensionOf(fields: Fields, name: string): unknown {
  return listOf(fields, 'extensions')
    .map((entry) => fieldsOf(entry, 'extensions'))
    .find((entry) => entry['name'] === name)?.['extension'];
}

function userOf(fields: Fields, path: (value: string | undefined) => string | undefined): KubeconfigUser {
  const provider = fields['auth-provider'];
  return defined({
    token: textOf(fields, 'token'),
    tokenFile: path(textOf(fields, 'tokenFile')),
    clientCertificate: path(textOf(fields, 'client-certificate')),
    clientCertificateData: dataOf(fields, 'client-certificate-data'),
    clientKey: path(textOf(fields, 'client-key')),
    clientKeyData: dataOf(fields, 'client-key-data'),
    username: textOf(fields, 'username'),
    password: textOf(fields, 'password'),
    exec:
      fields['exec'] === undefined || fields['exec'] === null
        ? undefined
        : execOf(fieldsOf(fields['exec'], 'exec'), path),
    authProvider:
      provider === undefined || provider === null
        ? undefined
        : (textOf(fieldsOf(provider, 'auth-provider'), 'name') ?? ''),
    impersonate: impersonationOf(fields),
  });
}

function impersonationOf(fields: Fields): Impersonation | undefined {
  const user = textOf(fields, 'as') ?? '';
  const uid = textOf(fields, 'as-uid');
  const groups = listOf(fields, 'as-groups').map(String);
  const extra = extraOf(fieldsOf(fields['as-user-extra'] ?? {}, 'as-user-extra'));
  if (user === '' && uid === undefined && groups.length === 0 && extra.size === 0) return undefined;
  return defined({ user, uid, groups, extra });
}

function extraOf(fields: Fields): Map<string, readonly string[]> {
  return new Map(Object.keys(fields).map((key) => [key, listOf(fields, key).map(String)]));
}

function execOf(fields: Fields, path: (value: string | undefined) => string | undefined): ExecConfig {
  const command = textOf(fields, 'command') ?? '';
  const apiVersion = textOf(fields, 'apiVersion') ?? '';
  const env = listOf(fields, 'env').map((entry) => {
    const variable = fieldsOf(entry, 'exec.env');
    return [textOf(variable, 'name') ?? '', textOf(variable, 'value') ?? ''] as const;
  });
  return defined({
    // A name without a slash is searched in PATH; only one with a slash is a path.
    command: command.includes('/') ? (path(command) ?? command) : command,
    args: listOf(fields, 'args').map(String),
    env: Object.fromEntries(env),
    apiVersion,
    installHint: textOf(fields, 'installHint'),
    provideClusterInfo: flagOf(fields, 'provideClusterInfo'),
    interactiveMode: textOf(fields, 'interactiveMode') ?? (apiVersion.endsWith('beta1') ? 'IfAvailable' : ''),
  });
}

function contextOf(fields: Fields): KubeconfigContext {
  return defined({
    cluster: textOf(fields, 'cluster') ?? '',
    user: textOf(fields, 'user') ?? '',
    namespace: textOf(fields, 'namespace'),
  });
}

/** `[{name, <field>: {…}}]` as a map. Equal names in one file are ambiguous (client-go `api/v1/conversion.go`). */
function named<V>(root: Fields, list: string, field: string, read: (fields: Fields) => V): Map<string, V> {
  const out = new Map<string, V>();
  for (const entry of listOf(root, list)) {
    const fields = fieldsOf(entry, list);
    const name = textOf(fields, 'name');
    if (name === undefined) throw new KubeconfigError(`${list}: an entry has no name`);
    if (out.has(name)) throw new KubeconfigError(`${list}: duplicate name ${JSON.stringify(name)} in list`);
    out.set(name, read(fieldsOf(fields[field] ?? {}, `${list}[${name}].${field}`)));
  }
  return out;
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new KubeconfigError(`${what} is not an object`);
  return value as Fields;
}

function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value)) throw new KubeconfigError(`${name} is not a list`);
  return value;
}

/** Empty counts as absent. */
function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  // A YAML number may change its text: 0123 is 83.
  const advice = typeof value === 'object' ? '' : '; put it in quotes';
  throw new KubeconfigError(`${name} is not a string${advice}`);
}

function flagOf(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new KubeconfigError(`${name} is neither true nor false`);
}

function dataOf(fields: Fields, name: string): string | undefined {
  const encoded = textOf(fields, name)?.replaceAll(/\s/g, '');
  if (encoded === undefined) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw new KubeconfigError(`${name} is not base64`);
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** Handles POSIX and Windows paths; only relative ones change. */
function resolvePath(value: string | undefined, directory: string | undefined): string | undefined {
  if (value === undefined || directory === undefined || /^([/\\]|[A-Za-z]:)/.test(value)) return value;
  return `${directory.replace(/[/\\]$/, '')}/${value}`;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without undefined fields. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
