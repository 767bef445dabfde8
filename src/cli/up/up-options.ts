import type { UpFlags } from './up.ts';
import { usualLeaseTimes } from '../flags/usual-lease-times.ts';

/** One flag of `kubegc up`, in commander's notation. */
export interface UpOption {
  readonly key: keyof UpFlags;
  /** `-f, --filename <FILE|DIR>`; without `<…>` the flag takes no value. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
}

/** The flags of `kubegc up`: the command tree, and with it help and completion, is made from them. */
export const upOptions: readonly UpOption[] = [
  {
    key: 'dataDir',
    flags: '--data-dir <DIR>',
    description: 'where the store, certificates and the kubeconfig are kept',
    default: './.kubegc',
  },
  {
    key: 'store',
    flags: '--store <KIND>',
    description:
      'lmdb keeps everything in the data directory, memory forgets it at the end, etcd is shared with other servers',
    choices: ['lmdb', 'memory', 'etcd'],
    default: 'lmdb',
  },
  {
    key: 'etcdEndpoints',
    flags: '--etcd-endpoints <URLS>',
    description: 'with --store etcd: its members, such as https://10.0.0.5:2379 (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'etcdServers',
    flags: '--etcd-servers <URLS>',
    description: 'the same, by the name it has in kube-apiserver',
    repeatable: true,
  },
  {
    key: 'etcdPrefix',
    flags: '--etcd-prefix <PATH>',
    description: 'where in etcd everything lies',
    default: '/registry',
  },
  {
    key: 'etcdCafile',
    flags: '--etcd-cafile <FILE>',
    description: "authorities that etcd's certificate may be of (PEM); the system's unless given",
  },
  { key: 'etcdCertfile', flags: '--etcd-certfile <FILE>', description: 'client certificate for etcd (PEM)' },
  { key: 'etcdKeyfile', flags: '--etcd-keyfile <FILE>', description: 'its key (PEM)' },
  { key: 'etcdUsername', flags: '--etcd-username <NAME>', description: 'user of etcd, where it asks for one' },
  { key: 'etcdPasswordFile', flags: '--etcd-password-file <FILE>', description: 'file with his password' },
  {
    key: 'leaderElectLeaseDuration',
    flags: '--leader-elect-lease-duration <DURATION>',
    description: 'with --store etcd: how long other servers wait after the last renewal they saw',
    default: usualLeaseTimes.leaderElectLeaseDuration,
  },
  {
    key: 'leaderElectRenewDeadline',
    flags: '--leader-elect-renew-deadline <DURATION>',
    description: 'how long the controllers of this server act without a renewal',
    default: usualLeaseTimes.leaderElectRenewDeadline,
  },
  {
    key: 'leaderElectRetryPeriod',
    flags: '--leader-elect-retry-period <DURATION>',
    description: 'between two attempts',
    default: usualLeaseTimes.leaderElectRetryPeriod,
  },
  {
    key: 'listen',
    flags: '--listen <HOST:PORT>',
    description: 'address to serve on; port 0 lets the system pick one, and :PORT is 127.0.0.1 alone',
    default: '127.0.0.1:6443',
  },
  {
    key: 'tlsSan',
    flags: '--tls-san <NAME>',
    description: 'a name or address that clients also reach the server by, for its certificate (repeatable)',
    repeatable: true,
  },
  {
    key: 'writeKubeconfig',
    flags: '--write-kubeconfig <FILE>',
    description: 'write the kubeconfig here instead of into the data directory (mode 0600)',
  },
  {
    key: 'controllers',
    flags: '--controllers <LIST>',
    description: 'controllers to run: * for all, NAME for one, -NAME for all but one (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'authorizationMode',
    flags: '--authorization-mode <MODE>',
    description:
      'who may do what: AlwaysAllow lets everybody who is let in do everything, RBAC goes by roles and bindings',
    choices: ['AlwaysAllow', 'AlwaysDeny', 'RBAC'],
    default: 'AlwaysAllow',
  },
  {
    key: 'enableAdmissionPlugins',
    flags: '--enable-admission-plugins <LIST>',
    description: 'admission plug-ins to run beside those that run by default (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'disableAdmissionPlugins',
    flags: '--disable-admission-plugins <LIST>',
    description: 'admission plug-ins not to run although they run by default (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'webhookService',
    flags: '--webhook-service <SERVICE=HOST:PORT>',
    description:
      'where webhooks behind a service are: NAMESPACE/NAME=HOST:PORT (repeat, or separate by commas); else its endpoints say',
    repeatable: true,
  },
  {
    key: 'selfCheckPeriod',
    flags: '--self-check-period <DURATION>',
    description: 'between two comparisons of the ownership graph with fresh lists of everything; 0 for none',
    default: '0',
  },
  {
    key: 'terminatedPodGcThreshold',
    flags: '--terminated-pod-gc-threshold <COUNT>',
    description: 'terminated pods that may stay; 0 or less keeps all (default: 12500)',
  },
  {
    key: 'concurrentTtlAfterFinishedSyncs',
    flags: '--concurrent-ttl-after-finished-syncs <COUNT>',
    description: 'finished Jobs deleted at once (default: 5)',
  },
  {
    key: 'podTtl',
    flags: '--pod-ttl',
    description: 'delete bare pods by their annotation pod.kubegc.io/ttl-after-finished',
  },
  {
    key: 'simulatePods',
    flags: '--simulate-pods <MODE>',
    description: 'simulate scheduler (schedule), or scheduler and kubelet (run); no container runs',
    choices: ['off', 'schedule', 'run'],
    default: 'off',
  },
  {
    key: 'simulateNodes',
    flags: '--simulate-nodes <COUNT>',
    description: 'simulated nodes (default: 1 when pods are simulated, else 0)',
  },
  {
    key: 'filename',
    flags: '-f, --filename <FILE|DIR>',
    description: 'create these objects once the server answers (repeatable)',
    repeatable: true,
  },
  {
    key: 'exitWithParent',
    flags: '--exit-with-parent',
    description: 'end, as on SIGTERM, when the process that started this one is gone',
  },
  {
    key: 'logLevel',
    flags: '--log-level <LEVEL>',
    description: 'least level to log',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
  },
  {
    key: 'logFormat',
    flags: '--log-format <FORMAT>',
    description: 'text for people, json for programs',
    choices: ['text', 'json'],
    default: 'text',
  },
];

const byName: ReadonlyMap<string, UpOption> = new Map(
  upOptions.flatMap((option) => (option.flags.match(/--?[\w-]+/g) ?? []).map((name) => [name, option] as const)),
);

/**
 * The flags of a plain command line: `--name value`, `--name=value` or `-f value`, each known and with an allowed value.
 * Undefined for everything else, which commander reads, completes or refuses: it costs more time to load than the rest of
 * the command line is worth, and a server that is started by a test is started often.
 */
export function plainUpFlags(args: readonly string[]): UpFlags | undefined {
  const flags: Record<string, string | string[] | true> = {};
  for (const option of upOptions) if (option.default !== undefined) flags[option.key] = option.default;
  for (let index = 0; index < args.length; index++) {
    const [, name = '', attached] = /^(--[\w-]+)=([\s\S]*)$/.exec(args[index] ?? '') ?? [undefined, args[index]];
    const option = byName.get(name);
    if (option?.flags.includes('<') === false) {
      if (attached !== undefined) return undefined;
      flags[option.key] = true;
      continue;
    }
    const value = attached ?? args[++index];
    if (option === undefined || value === undefined || option.choices?.includes(value) === false) return undefined;
    if (option.repeatable) flags[option.key] = [...listOf(flags[option.key]), value];
    else flags[option.key] = value;
  }
  return flags as unknown as UpFlags;
}

function listOf(value: string | string[] | true | undefined): readonly string[] {
  return Array.isArray(value) ? value : [];
}
