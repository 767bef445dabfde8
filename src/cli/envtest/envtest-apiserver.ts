import { implementedPlugins, knownPlugins, type PluginFlags } from '../../apiserver/admission/plugin-selection.ts';
import { type AuthorizationMode, authorizationModes } from '../../apiserver/authorization/authorization-mode.ts';
import { emulatedVersions, type FeatureGate, parseFeatureGates } from '../../apiserver/emulation/features.ts';
import { parseServiceRange, type ServiceRange } from '../../apiserver/registry/strategies/services/service-range.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { systemRandom } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../process/command-error.ts';
import type { ControllerName } from '../../assembly/controller-names.ts';
import { selectControllers } from '../flags/select-controllers.ts';
import type { EtcdVersion } from './envtest-etcd.ts';
import { identityOfFlags } from './envtest-identity.ts';
import type { EtcdSettings } from '../cluster/etcd-settings.ts';
import { type GoFlags, parseGoFlags } from '../flags/go-flags.ts';
import { type ListenAddress, parseListenAddress } from '../flags/listen-address.ts';
import { createLogger } from '../process/logger.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilParentEnds, untilSignal } from '../process/termination.ts';
import { kubegcVersion, kubernetesVersion } from '../process/version.ts';

/** Flags with the same meaning as in kube-apiserver. */
const understood: Readonly<Record<string, string>> = {
  'advertise-address': 'accepted',
  'allow-privileged': 'accepted',
  'authorization-mode': 'RBAC, AlwaysAllow or AlwaysDeny; Node beside them is accepted',
  'bind-address': 'address to serve on',
  'cert-dir': 'has apiserver.crt and apiserver.key, or gets them',
  'client-ca-file': 'authority of client certificates',
  'disable-admission-plugins': 'admission plug-ins not to run',
  'enable-admission-plugins': 'admission plug-ins to run beside the usual ones',
  'etcd-servers': 'where the executable etcd serves; a real etcd keeps the objects',
  'etcd-prefix': 'where in a real etcd everything lies',
  'feature-gates': 'features to switch on, such as ShardedListAndWatch=true; unknown ones are named and ignored',
  'secure-port': 'port to serve on',
  'service-account-issuer': 'issuer of the tokens of service accounts',
  'service-account-key-file': 'accepted',
  'service-account-signing-key-file': 'signs the tokens of service accounts',
  'service-cluster-ip-range': 'where cluster addresses of services come from; of several ranges the first one of IPv4',
  'tls-cert-file': 'serving certificate, instead of the one in --cert-dir',
  'tls-private-key-file': 'its key',
};

/** kube-apiserver's default. */
const DEFAULT_PORT = '6443';
const DEFAULT_ADDRESS = '127.0.0.1';
/** The stand-in answers at once; a real etcd that was just started needs a moment. */
const ETCD_TIMEOUT_MS = 10_000;
const ETCD_RETRY_MS = 100;

/**
 * The default controllers. Suites for envtest expect no other writers: an unexpected ServiceAccount, ConfigMap or pod breaks them.
 * Collection and the deletion of namespaces are the reasons to use kubegc.
 */
const DEFAULT_CONTROLLERS = 'garbage-collector-controller,namespace-controller';

/**
 * `asked` is the value of `KUBEGC_CONTROLLERS`, a list as in `kubegc up --controllers`. Throws {@link CommandError} for an unknown name.
 */
export function envtestControllers(asked: string | undefined): ReadonlySet<ControllerName> {
  return selectControllers([asked === undefined || asked.trim() === '' ? DEFAULT_CONTROLLERS : asked]);
}

/**
 * Runs the executable `kube-apiserver` of `kubegc envtest-assets`, with API server and controllers (API-565), until a signal or the end of
 * its parent. `controllers` is the value of `KUBEGC_CONTROLLERS`. Returns the exit code.
 */
export async function runKubeApiserver(
  args: readonly string[],
  terminal: Terminal,
  controllers: string | undefined,
): Promise<number> {
  const flags = parseGoFlags(args);
  if (flags.has('help') || flags.has('h')) {
    terminal.stdout(help());
    return 0;
  }
  if (flags.has('version')) {
    terminal.stdout(`Kubernetes v${kubernetesVersion.replace(/^v/, '')} (kubegc ${kubegcVersion})\n`);
    return 0;
  }
  const ended = Promise.race([untilSignal(), untilParentEnds()]);
  const logger = createLogger({
    level: 'info',
    format: 'text',
    write: terminal.stderr,
    now: () => systemClock.now(),
  });
  const ignored = flags.names.filter((name) => !(name in understood));
  if (ignored.length > 0) logger.warn('flags that kubegc does not know are ignored', { flags: ignored.join(' ') });
  const listen = listenOf(flags);
  const options = { clock: systemClock, random: systemRandom, logger };
  const issuer = flags.value('service-account-issuer');
  const serviceRange = serviceRangeOf(flags);
  const etcd = await realEtcd(flags);
  const cluster = await Cluster.start({
    ...options,
    store: etcd === undefined ? 'memory' : 'etcd',
    ...(etcd === undefined ? {} : { etcd }),
    identity: identityOfFlags(flags, { ...options, hosts: [listen.host] }),
    ...(issuer === undefined ? {} : { serviceAccountIssuer: issuer }),
    ...(serviceRange === undefined ? {} : { serviceRange }),
    listen,
    controllers: envtestControllers(controllers),
    authorizationMode: authorizationModeOf(flags),
    admissionPlugins: admissionPluginsOf(flags, logger),
    featureGates: featureGatesOf(flags, logger),
    selfCheckPeriodMs: undefined,
  });
  try {
    terminal.stderr(`kubegc serves as kube-apiserver on ${cluster.url}\n`);
    cluster.startControllers();
    const outcome = await Promise.race([ended, cluster.failed]);
    if (!(outcome instanceof Error)) return 0;
    terminal.stderr(`error: ${outcome.message}\n`);
    return 1;
  } finally {
    await cluster.stop();
  }
}

/** Frameworks parse it to find supported flags. */
function help(): string {
  const rows = Object.entries(understood).map(([name, meaning]) => `      --${name.padEnd(36)} ${meaning}\n`);
  return `kube-apiserver with a garbage collector, served by kubegc ${kubegcVersion}. Other flags are ignored.\n\n${rows.join('')}`;
}

function listenOf(flags: GoFlags): ListenAddress {
  const address = flags.value('bind-address') ?? DEFAULT_ADDRESS;
  const host = address.includes(':') ? `[${address}]` : address;
  return parseListenAddress(`${host}:${flags.value('secure-port') ?? DEFAULT_PORT}`, '--bind-address, --secure-port');
}

/** The first supported mode; without one, everything is allowed, as in kube-apiserver. */
export function authorizationModeOf(flags: GoFlags): AuthorizationMode {
  const asked = flags.list('authorization-mode');
  const mode = authorizationModes.find((each) => asked.includes(each));
  if (mode !== undefined) return mode;
  if (asked.length === 0) return 'AlwaysAllow';
  throw new CommandError(
    `--authorization-mode=${asked.join(',')} is not to be had`,
    `Give one of ${authorizationModes.join(', ')}.`,
  );
}

/** Undefined if no range is given. Services only have IPv4 addresses. */
export function serviceRangeOf(flags: GoFlags): ServiceRange | undefined {
  const asked = flags.list('service-cluster-ip-range');
  const [first] = asked.filter((range) => !range.includes(':'));
  if (asked.length === 0) return undefined;
  try {
    return parseServiceRange(first ?? asked.join(','));
  } catch (error) {
    throw new CommandError(`--service-cluster-ip-range: ${messageOf(error)}`, 'Give one like 10.0.0.0/24.');
  }
}

/** The plug-ins that this server knows, because names differ between versions of Kubernetes. */
export function admissionPluginsOf(flags: GoFlags, logger: Logger): PluginFlags {
  const known = new Set<string>(knownPlugins);
  const implemented = new Set<string>(implementedPlugins);
  const asked = { enable: flags.list('enable-admission-plugins'), disable: flags.list('disable-admission-plugins') };
  const enable = asked.enable.filter((name) => implemented.has(name));
  const disable = asked.disable.filter((name) => known.has(name) && !enable.includes(name));
  const missing = asked.enable.filter((name) => !implemented.has(name));
  if (missing.length > 0) logger.warn('admission plug-ins that kubegc does not have', { plugins: missing.join(' ') });
  return { enable, disable };
}

/** The gates that this server knows and that are on. A suite may name others, because kube-apiserver has many more. */
export function featureGatesOf(flags: GoFlags, logger: Logger): ReadonlySet<FeatureGate> {
  const [version] = emulatedVersions;
  const pairs = flags.list('feature-gates');
  const known = pairs.filter((pair) => typeof parseFeatureGates(pair, version) !== 'string');
  if (known.length < pairs.length) {
    const unknown = pairs.filter((pair) => !known.includes(pair));
    logger.warn('feature gates that kubegc does not have', { gates: unknown.join(' ') });
  }
  const gates = parseFeatureGates(known.join(','), version);
  return typeof gates === 'string' ? new Set() : gates;
}

/** Undefined if the executable etcd beside this one is ours, or no etcd is given; then the data stays in memory. */
async function realEtcd(flags: GoFlags): Promise<EtcdSettings | undefined> {
  const servers = flags.list('etcd-servers');
  const [first] = servers;
  if (first === undefined) return undefined;
  if ((await etcdVersion(first)).kubegc !== undefined) return undefined;
  const { etcdSettings } = await import('../cluster/etcd-settings.ts');
  return etcdSettings('etcd', { etcdServers: servers, etcdPrefix: flags.value('etcd-prefix') ?? '/registry' });
}

async function etcdVersion(url: string): Promise<EtcdVersion> {
  const deadline = systemClock.monotonic() + ETCD_TIMEOUT_MS;
  for (;;) {
    try {
      const response = await fetch(new URL('/version', url), { signal: AbortSignal.timeout(ETCD_TIMEOUT_MS) });
      return (await response.json()) as EtcdVersion;
    } catch (error) {
      if (systemClock.monotonic() < deadline) {
        await new Promise<void>((resolve) => void systemClock.setTimer(ETCD_RETRY_MS, resolve));
        continue;
      }
      throw new CommandError(`etcd does not answer at ${url}`, 'Start it first; --etcd-servers says where it is.', {
        cause: error,
      });
    }
  }
}
