import { emulatedVersions } from '../../apiserver/emulation/features.ts';
import { lifecycleOptions } from '../flags/lifecycle-options.ts';
import { logFormatOption, logLevelOption } from '../flags/logging-options.ts';
import { orphanTimeOptions } from '../flags/orphan-times.ts';
import type { UpFlags } from './up.ts';
import { usualLeaseTimes } from '../flags/usual-lease-times.ts';

/** One flag of `kubegc up`, in commander's notation. */
export interface UpOption {
  readonly key: keyof UpFlags;
  /** `-f, --filename <FILE|DIR>`. Without `<…>` the flag has no value. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
  /** The heading of its group in the help. */
  readonly group: UpOptionGroup;
}

/** Headings of `kubegc up --help`, in this order. */
export const upOptionGroups = [
  'Common flags:',
  'Storage:',
  'Serving:',
  'Controllers and admission:',
  'Leader election (with --store etcd):',
  'Logging:',
] as const;

export type UpOptionGroup = (typeof upOptionGroups)[number];

/** The flags of `kubegc up`, from which the command tree, help and completion are built. */
export const upOptions: readonly UpOption[] = [
  {
    key: 'filename',
    group: 'Common flags:',
    flags: '-f, --filename <FILE|DIR>',
    description: 'create the objects in these manifests before the server reports ready (repeatable)',
    repeatable: true,
  },
  {
    key: 'listen',
    group: 'Common flags:',
    flags: '--listen <HOST:PORT>',
    description: 'address to serve on; port 0 picks a free port, :PORT means 127.0.0.1:PORT',
    default: '127.0.0.1:6443',
  },
  {
    key: 'store',
    group: 'Common flags:',
    flags: '--store <KIND>',
    description:
      'file keeps the objects in the data directory, memory forgets them on exit, etcd shares them with other servers',
    choices: ['file', 'memory', 'etcd'],
    default: 'file',
  },
  {
    key: 'dataDir',
    group: 'Common flags:',
    flags: '--data-dir <DIR>',
    description: 'directory of the store, the certificates and the kubeconfig',
    default: './.kubegc',
  },
  {
    key: 'writeKubeconfig',
    group: 'Common flags:',
    flags: '--write-kubeconfig <FILE>',
    description: 'write the kubeconfig to this file (mode 0600) instead of the data directory',
  },
  {
    key: 'controllers',
    group: 'Common flags:',
    flags: '--controllers <LIST>',
    description: 'controllers to run: * for all, NAME for one, *,-NAME for all but one (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'exitWithParent',
    group: 'Common flags:',
    flags: '--exit-with-parent',
    description: 'exit when the parent process is gone',
  },
  {
    key: 'record',
    group: 'Common flags:',
    flags: '--record',
    description: 'record every deletion in the data directory, so that kubectl cascade undo can bring the objects back',
  },
  {
    key: 'recordNoSecrets',
    group: 'Storage:',
    flags: '--record-no-secrets',
    description: 'with --record: keep no data of Secrets, not even encrypted',
  },
  {
    key: 'etcdEndpoints',
    group: 'Storage:',
    flags: '--etcd-endpoints <URLS>',
    description: 'etcd members, such as https://10.0.0.5:2379 (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'etcdServers',
    group: 'Storage:',
    flags: '--etcd-servers <URLS>',
    description: "same as --etcd-endpoints, under kube-apiserver's name",
    repeatable: true,
  },
  {
    key: 'etcdPrefix',
    group: 'Storage:',
    flags: '--etcd-prefix <PATH>',
    description: 'etcd key prefix',
    default: '/registry',
  },
  {
    key: 'etcdCafile',
    group: 'Storage:',
    flags: '--etcd-cafile <FILE>',
    description: "certificate authority of etcd (PEM) (default: the system's)",
  },
  {
    key: 'etcdCertfile',
    group: 'Storage:',
    flags: '--etcd-certfile <FILE>',
    description: 'client certificate for etcd (PEM)',
  },
  {
    key: 'etcdKeyfile',
    group: 'Storage:',
    flags: '--etcd-keyfile <FILE>',
    description: 'key of the client certificate for etcd (PEM)',
  },
  {
    key: 'etcdUsername',
    group: 'Storage:',
    flags: '--etcd-username <NAME>',
    description: 'user name for etcd',
  },
  {
    key: 'etcdPasswordFile',
    group: 'Storage:',
    flags: '--etcd-password-file <FILE>',
    description: 'file with the password of the etcd user',
  },
  {
    key: 'tlsSan',
    group: 'Serving:',
    flags: '--tls-san <NAME>',
    description: 'additional host name or address for the serving certificate (repeatable)',
    repeatable: true,
  },
  {
    key: 'authorizationMode',
    group: 'Serving:',
    flags: '--authorization-mode <MODE>',
    description: 'AlwaysAllow: every authenticated user may do everything. RBAC: roles and bindings decide',
    choices: ['AlwaysAllow', 'AlwaysDeny', 'RBAC'],
    default: 'AlwaysAllow',
  },
  {
    key: 'emulateVersion',
    group: 'Serving:',
    flags: '--emulate-version <VERSION>',
    description: 'version of kube-apiserver to behave as',
    choices: [...emulatedVersions],
    default: emulatedVersions[0],
  },
  {
    key: 'featureGates',
    group: 'Serving:',
    flags: '--feature-gates <LIST>',
    description: 'alpha features to switch on: NAME=true (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'webhookService',
    group: 'Serving:',
    flags: '--webhook-service <SERVICE=HOST:PORT>',
    description:
      'address of a webhook behind a Service: NAMESPACE/NAME=HOST:PORT (repeat, or separate by commas) (default: its endpoints)',
    repeatable: true,
  },
  {
    key: 'enableAdmissionPlugins',
    group: 'Controllers and admission:',
    flags: '--enable-admission-plugins <LIST>',
    description: 'admission plug-ins to run besides the default ones (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'disableAdmissionPlugins',
    group: 'Controllers and admission:',
    flags: '--disable-admission-plugins <LIST>',
    description: 'default admission plug-ins not to run (repeat, or separate by commas)',
    repeatable: true,
  },
  {
    key: 'guard',
    group: 'Controllers and admission:',
    flags: '--guard',
    description: 'refuse deletions that reach an object with the annotation kubegc.io/protect',
  },
  {
    key: 'ownerGuard',
    group: 'Controllers and admission:',
    flags: '--owner-guard <MODE>',
    description: 'whose writes may not add a controller that does not exist or is being orphaned',
    choices: ['off', 'controllers', 'all'],
    default: 'controllers',
  },
  {
    key: 'selfCheckPeriod',
    group: 'Controllers and admission:',
    flags: '--self-check-period <DURATION>',
    description: 'interval between comparisons of the graph with fresh lists; 0 disables them',
    default: '0',
  },
  {
    key: 'guardBudgets',
    group: 'Controllers and admission:',
    flags: '--guard-budgets <FILE>',
    description: 'with --guard: limits of users and groups, altogether and by kind, in YAML',
  },
  {
    key: 'maxDeletesPerMinute',
    group: 'Controllers and admission:',
    flags: '--max-deletes-per-minute <N>',
    description:
      'deletions of the collector within a minute because of one owner that is gone; more are held until somebody agrees (default: no limit)',
  },
  {
    key: 'maxDeletesPerMinuteOverall',
    group: 'Controllers and admission:',
    flags: '--max-deletes-per-minute-overall <N>',
    description: 'the same whatever the owners (default: no limit)',
  },
  ...orphanTimeOptions.map((option): UpOption => ({ ...option, group: 'Controllers and admission:' })),
  ...lifecycleOptions.map((option): UpOption => ({ ...option, group: 'Controllers and admission:' })),
  {
    key: 'simulatePods',
    group: 'Common flags:',
    flags: '--simulate-pods <MODE>',
    description: 'simulate scheduler (schedule), or scheduler and kubelet (run); no container runs',
    choices: ['off', 'schedule', 'run'],
    default: 'off',
  },
  {
    key: 'simulateNodes',
    group: 'Controllers and admission:',
    flags: '--simulate-nodes <COUNT>',
    description: 'simulated nodes (default: 1 when pods are simulated, else 0)',
  },
  {
    key: 'leaderElectLeaseDuration',
    group: 'Leader election (with --store etcd):',
    flags: '--leader-elect-lease-duration <DURATION>',
    description: 'time that other servers wait after the last renewal before they take over',
    default: usualLeaseTimes.leaderElectLeaseDuration,
  },
  {
    key: 'leaderElectRenewDeadline',
    group: 'Leader election (with --store etcd):',
    flags: '--leader-elect-renew-deadline <DURATION>',
    description: 'time that the controllers of this server act without a renewal',
    default: usualLeaseTimes.leaderElectRenewDeadline,
  },
  {
    key: 'leaderElectRetryPeriod',
    group: 'Leader election (with --store etcd):',
    flags: '--leader-elect-retry-period <DURATION>',
    description: 'interval between attempts to acquire or renew the lease',
    default: usualLeaseTimes.leaderElectRetryPeriod,
  },
  { key: 'logLevel', ...logLevelOption },
  { key: 'logFormat', ...logFormatOption },
];

const byName: ReadonlyMap<string, UpOption> = new Map(
  upOptions.flatMap((option) => (option.flags.match(/--?[\w-]+/g) ?? []).map((name) => [name, option] as const)),
);

/**
 * Parses a simple command line: `--name value`, `--name=value` or `-f value`, all known and with allowed values. Undefined for everything
 * else, which commander parses, completes or refuses. commander takes longer to load than all other work of the command line, and tests
 * start a server often.
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
