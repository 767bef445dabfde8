import { logFormatOption, logLevelOption } from '../flags/logging-options.ts';
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
  {
    key: 'terminatedPodGcThreshold',
    group: 'Controllers and admission:',
    flags: '--terminated-pod-gc-threshold <COUNT>',
    description: 'terminated pods that may stay; 0 or less keeps all (default: 12500)',
  },
  {
    key: 'concurrentTtlAfterFinishedSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-ttl-after-finished-syncs <COUNT>',
    description: 'finished Jobs deleted at once (default: 5)',
  },
  {
    key: 'concurrentJobSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-job-syncs <COUNT>',
    description: 'Jobs synced at once (default: 5)',
  },
  {
    key: 'concurrentCronJobSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-cron-job-syncs <COUNT>',
    description: 'CronJobs synced at once (default: 5)',
  },
  {
    key: 'concurrentDeploymentSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-deployment-syncs <COUNT>',
    description: 'Deployments synced at once (default: 5)',
  },
  {
    key: 'concurrentReplicasetSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-replicaset-syncs <COUNT>',
    description: 'ReplicaSets synced at once (default: 5)',
  },
  {
    key: 'concurrentRcSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-rc-syncs <COUNT>',
    description: 'ReplicationControllers synced at once (default: 5)',
  },
  {
    key: 'concurrentStatefulsetSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-statefulset-syncs <COUNT>',
    description: 'StatefulSets synced at once (default: 5)',
  },
  {
    key: 'concurrentDaemonsetSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-daemonset-syncs <COUNT>',
    description: 'DaemonSets synced at once (default: 2)',
  },
  {
    key: 'concurrentResourceclaimSyncs',
    group: 'Controllers and admission:',
    flags: '--concurrent-resourceclaim-syncs <COUNT>',
    description: 'ResourceClaims synced at once (default: 50)',
  },
  {
    key: 'podTtl',
    group: 'Controllers and admission:',
    flags: '--pod-ttl',
    description: 'delete bare pods by their annotation pod.kubegc.io/ttl-after-finished',
  },
  {
    key: 'pvclaimbinderSyncPeriod',
    group: 'Controllers and admission:',
    flags: '--pvclaimbinder-sync-period <DURATION>',
    description: 'interval between attempts at volumes that failed (default: 15s)',
  },
  {
    key: 'unusedClaims',
    group: 'Controllers and admission:',
    flags: '--unused-claims <MODE>',
    description:
      'claims that no pod names: write their condition Unused (report), also delete them after the time in kubegc.io/delete-unused-after (delete), or neither (off)',
    choices: ['off', 'report', 'delete'],
    default: 'off',
  },
  {
    key: 'hostpathDeleter',
    group: 'Controllers and admission:',
    flags: '--hostpath-deleter',
    description: 'delete the directories of released hostPath volumes below /tmp on this machine',
  },
  {
    key: 'nodeExistenceSource',
    group: 'Controllers and admission:',
    flags: '--node-existence-source <SOURCE>',
    description:
      'delete nodes whose machine is not in this source: file:PATH, http(s)://URL, exec:PATH, object:RESOURCE.VERSION.GROUP or lease',
  },
  {
    key: 'nodeExistencePeriod',
    group: 'Controllers and admission:',
    flags: '--node-existence-period <DURATION>',
    description: 'interval between questions to that source (default: 5s)',
  },
  {
    key: 'nodeExistenceMaxDeleteFraction',
    group: 'Controllers and admission:',
    flags: '--node-existence-max-delete-fraction <SHARE>',
    description: 'share of all nodes that may be deleted at once, else none is (default: 0.1)',
  },
  {
    key: 'nodeAbsentAfter',
    group: 'Controllers and admission:',
    flags: '--node-absent-after <DURATION>',
    description: 'silence after which the source "lease" counts a node as gone (default: 10m)',
  },
  {
    key: 'nodeHealth',
    group: 'Controllers and admission:',
    flags: '--node-health <MODE>',
    description: 'mark silent nodes: those heard of before (auto), all (on), or none (off)',
    choices: ['auto', 'on', 'off'],
    default: 'auto',
  },
  {
    key: 'nodeMonitorPeriod',
    group: 'Controllers and admission:',
    flags: '--node-monitor-period <DURATION>',
    description: 'interval between checks of node health (default: 5s)',
  },
  {
    key: 'nodeMonitorGracePeriod',
    group: 'Controllers and admission:',
    flags: '--node-monitor-grace-period <DURATION>',
    description: 'silence after which a node is Unknown (default: 50s)',
  },
  {
    key: 'nodeStartupGracePeriod',
    group: 'Controllers and admission:',
    flags: '--node-startup-grace-period <DURATION>',
    description: 'the same for a node that never reported (default: 1m)',
  },
  {
    key: 'legacyServiceAccountTokenCleanUpPeriod',
    group: 'Controllers and admission:',
    flags: '--legacy-service-account-token-clean-up-period <DURATION>',
    description:
      'time without a use after which a generated token in a Secret is refused, and later deleted (default: 8760h)',
  },
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
