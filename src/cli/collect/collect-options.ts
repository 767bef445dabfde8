import type { KubeApiContentType } from './collect-content-type.ts';
import type { LifecycleFlags } from '../flags/lifecycle-flags.ts';
import { lifecycleOptions } from '../flags/lifecycle-options.ts';
import { logFormatOption, logLevelOption } from '../flags/logging-options.ts';
import { type OrphanTimeFlags, orphanTimeOptions } from '../flags/orphan-times.ts';
import { usualLeaseTimes } from '../flags/usual-lease-times.ts';

/** The values of the command line, as unparsed texts. */
export interface CollectFlags extends LifecycleFlags, OrphanTimeFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly master?: string;
  readonly mode: 'observe' | 'auto' | 'collect';
  readonly probe?: string;
  /** `true` if it has no value. */
  readonly enableGarbageCollector: string | true;
  readonly controllers?: readonly string[];
  readonly concurrentGcSyncs: string;
  readonly syncPeriod: string;
  readonly initialSyncTimeout: string;
  readonly absentOwnerCacheSize: string;
  readonly retryBase: string;
  readonly retryQps: string;
  readonly retryBurst: string;
  readonly retryCap: string;
  readonly selfCheckPeriod: string;
  readonly gcIgnoredResources?: readonly string[];
  /** `true` if it has no value. */
  readonly orphanBarrier: string | true;
  readonly orphanRecords: 'events' | 'memory';
  readonly maxDeletesPerMinute?: string;
  readonly maxDeletesPerMinuteOverall?: string;
  readonly resolveUnservedVersions?: boolean;
  /** `true` if it has no value. */
  readonly leaderElect: string | true;
  readonly leaderElectLeaseDuration: string;
  readonly leaderElectRenewDeadline: string;
  readonly leaderElectRetryPeriod: string;
  readonly leaderElectResourceLock: 'leases';
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
  readonly kubeApiQps: string;
  readonly kubeApiBurst: string;
  readonly kubeApiContentType: KubeApiContentType;
  readonly bindAddress?: string;
  readonly bindTokenFile?: string;
  readonly explainEveryAction?: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly logFormat: 'text' | 'json';
}

/** One flag of `kubegc collect`, in commander's notation. */
interface CollectOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
  /** The heading of its group in the help. */
  readonly group: CollectOptionGroup;
}

/** Headings of `kubegc collect --help`, in this order. */
const collectOptionGroups = [
  'Common flags:',
  'Collection:',
  'Retries and limits:',
  'Leader election:',
  'Other controllers:',
  'Debug server:',
  'Logging:',
] as const;

type CollectOptionGroup = (typeof collectOptionGroups)[number];

/** The flags of `kubegc collect`, with the names and defaults of kube-controller-manager where it has them (COL-200, COL-201). */
export const collectOptions: readonly CollectOption[] = [
  {
    group: 'Common flags:',
    flags: '--mode <MODE>',
    description:
      'observe: watch and explain, write nothing. collect: delete, while holding the lease. auto: collect where it is proven that no other collector runs',
    choices: ['observe', 'auto', 'collect'],
    default: 'observe',
  },
  {
    group: 'Common flags:',
    flags: '--kubeconfig <FILE>',
    description: "kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config, or the pod's service account)",
  },
  {
    group: 'Common flags:',
    flags: '--context <NAME>',
    description: 'context of the kubeconfig',
  },
  {
    group: 'Common flags:',
    flags: '--master <URL>',
    description: 'API server address; overrides the one in the kubeconfig',
  },
  {
    group: 'Common flags:',
    flags: '--explain-every-action',
    description: 'log each decision with its reason, one line each; with --mode observe what would be done',
  },
  {
    group: 'Common flags:',
    flags: '--bind-address <HOST:PORT>',
    description: 'serve health, metrics and debug pages over plain HTTP; off unless given; :PORT means 127.0.0.1:PORT',
  },
  {
    group: 'Common flags:',
    flags: '--probe <NAMESPACE>',
    description:
      'with --mode auto: create a ConfigMap in this namespace that is garbage, to see whether another collector deletes it; removed afterwards',
  },
  {
    group: 'Common flags:',
    flags: '--controllers <LIST>',
    description:
      'controllers to run, as in kubegc up: * for all, NAME for one, *,-NAME for all but one; only garbage-collector-controller unless given',
    repeatable: true,
  },
  {
    group: 'Collection:',
    flags: '--enable-garbage-collector [BOOL]',
    description: 'false: collect nothing, and exit with 0 if --controllers selects no other controller',
    default: 'true',
  },
  {
    group: 'Collection:',
    flags: '--gc-ignored-resources <LIST>',
    description:
      'GROUP/RESOURCE to ignore besides events (repeat, or separate by commas); core resources without a group',
    repeatable: true,
  },
  {
    group: 'Collection:',
    flags: '--orphan-barrier [BOOL]',
    description:
      'before an orphaned owner is removed, read its namespace once more for dependents that were added late',
    default: 'true',
  },
  {
    group: 'Collection:',
    flags: '--orphan-records <WHERE>',
    description: 'where orphaned owners are remembered, so that dependents added late are orphaned too',
    choices: ['events', 'memory'],
    default: 'events',
  },
  ...orphanTimeOptions.map((option): CollectOption => ({ ...option, group: 'Collection:' })),
  {
    group: 'Collection:',
    flags: '--resolve-unserved-versions',
    description: 'look up an owner in a served version if its reference names a version that is not served',
  },
  {
    group: 'Collection:',
    flags: '--sync-period <DURATION>',
    description: 'interval between discovery refreshes',
    default: '30s',
  },
  {
    group: 'Collection:',
    flags: '--initial-sync-timeout <DURATION>',
    description: 'maximum wait for the first lists before work begins',
    default: '30s',
  },
  {
    group: 'Collection:',
    flags: '--absent-owner-cache-size <N>',
    description: 'number of absent owners to remember besides those that something refers to',
    default: '500',
  },
  {
    group: 'Collection:',
    flags: '--self-check-period <DURATION>',
    description: 'interval between comparisons of the graph with fresh lists; 0 disables them',
    default: '0',
  },
  {
    group: 'Collection:',
    flags: '--kube-api-content-type <TYPE>',
    description: 'content type of lists and watches; everything else is JSON',
    choices: ['application/vnd.kubernetes.protobuf', 'application/json'] satisfies KubeApiContentType[],
    default: 'application/vnd.kubernetes.protobuf',
  },
  {
    group: 'Retries and limits:',
    flags: '--concurrent-gc-syncs <N>',
    description: 'number of workers of each of the two queues',
    default: '20',
  },
  {
    group: 'Retries and limits:',
    flags: '--retry-base <DURATION>',
    description: 'backoff after the first failure of an object; doubles with each further failure',
    default: '5ms',
  },
  {
    group: 'Retries and limits:',
    flags: '--retry-cap <DURATION>',
    description: 'maximum per-object retry backoff',
    default: '1m',
  },
  {
    group: 'Retries and limits:',
    flags: '--retry-qps <N>',
    description: 'retries per second of each of the two queues',
    default: '10',
  },
  {
    group: 'Retries and limits:',
    flags: '--retry-burst <N>',
    description: 'retries in a burst',
    default: '100',
  },
  {
    group: 'Retries and limits:',
    flags: '--max-deletes-per-minute <N>',
    description:
      'deletions within a minute because of one owner that is gone; more are held until somebody agrees; without effect with --mode observe (default: no limit)',
  },
  {
    group: 'Retries and limits:',
    flags: '--max-deletes-per-minute-overall <N>',
    description: 'the same whatever the owners (default: no limit)',
  },
  {
    group: 'Retries and limits:',
    flags: '--kube-api-qps <N>',
    description: "requests per second; 0 sets no limit and relies on the server's priority and fairness",
    default: '0',
  },
  {
    group: 'Retries and limits:',
    flags: '--kube-api-burst <N>',
    description: 'requests in a burst; 0 means 1.5 times --kube-api-qps',
    default: '0',
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect [BOOL]',
    description: 'collect only while holding the lease',
    default: 'true',
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-resource-namespace <NAME>',
    description: 'namespace of the lease',
    default: 'kube-system',
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-resource-name <NAME>',
    description: 'name of the lease',
    default: 'kubegc-collector',
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-resource-lock <KIND>',
    description: 'kind of the lock',
    choices: ['leases'],
    default: 'leases',
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-lease-duration <DURATION>',
    description: 'time that standbys wait after the last renewal before they take over',
    default: usualLeaseTimes.leaderElectLeaseDuration,
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-renew-deadline <DURATION>',
    description: 'time that the leader acts without a renewal',
    default: usualLeaseTimes.leaderElectRenewDeadline,
  },
  {
    group: 'Leader election:',
    flags: '--leader-elect-retry-period <DURATION>',
    description: 'interval between attempts to acquire or renew the lease',
    default: usualLeaseTimes.leaderElectRetryPeriod,
  },
  // The directories of volumes are on the machine of an API server, not on this one.
  ...lifecycleOptions
    .filter(({ key }) => key !== 'hostpathDeleter')
    .map((option): CollectOption => ({ ...option, group: 'Other controllers:' })),
  {
    group: 'Debug server:',
    flags: '--bind-token-file <FILE>',
    description: 'bearer token for /metrics and the debug pages; required for addresses other than loopback',
  },
  logLevelOption,
  logFormatOption,
];
