import type { KubeApiContentType } from './collect-content-type.ts';
import { usualLeaseTimes } from '../flags/usual-lease-times.ts';

/** As the command line gives them; every value is still a person's text. */
export interface CollectFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly master?: string;
  readonly mode: 'auto' | 'observe' | 'collect';
  readonly probe?: string;
  /** `true` when given without a value. */
  readonly enableGarbageCollector: string | true;
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
  /** `true` when given without a value. */
  readonly orphanBarrier: string | true;
  readonly orphanRecords: 'events' | 'memory';
  readonly resolveUnservedVersions?: boolean;
  /** `true` when given without a value. */
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
export interface CollectOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
}

/** The flags of `kubegc collect`, with the names and defaults of kube-controller-manager where it has them (COL-200, COL-201). */
export const collectOptions: readonly CollectOption[] = [
  {
    flags: '--kubeconfig <FILE>',
    description: 'which cluster; else KUBECONFIG, ~/.kube/config, or the pod this runs in',
  },
  { flags: '--context <NAME>', description: 'context of the kubeconfig' },
  { flags: '--master <URL>', description: 'another server than the one the kubeconfig names' },
  {
    flags: '--mode <MODE>',
    description:
      'observe: watch and show, write nothing; collect: do the work; auto: observe while kube-controller-manager runs, else collect',
    choices: ['auto', 'observe', 'collect'],
    default: 'auto',
  },
  {
    flags: '--probe <NAMESPACE>',
    description:
      'with --mode auto: may create a ConfigMap there that is garbage, to see whether somebody else collects it; deleted afterwards',
  },
  {
    flags: '--enable-garbage-collector [BOOL]',
    description: 'false: do nothing at all, and end at once with 0',
    default: 'true',
  },
  {
    flags: '--concurrent-gc-syncs <N>',
    description: 'workers of each of the two queues',
    default: '20',
  },
  { flags: '--sync-period <DURATION>', description: 'between two looks at what is served', default: '30s' },
  {
    flags: '--initial-sync-timeout <DURATION>',
    description: 'how long the first lists are waited for before work begins all the same',
    default: '30s',
  },
  {
    flags: '--absent-owner-cache-size <N>',
    description: 'owners proven absent that are remembered, beside those that something refers to',
    default: '500',
  },
  {
    flags: '--retry-base <DURATION>',
    description: 'the wait after the first failure of an object; doubled by each further one',
    default: '5ms',
  },
  { flags: '--retry-qps <N>', description: 'retries a second of each of the two queues', default: '10' },
  { flags: '--retry-burst <N>', description: 'retries at once after a pause', default: '100' },
  {
    flags: '--retry-cap <DURATION>',
    description:
      'the longest wait that its own failures bring an object; more of them than --retry-qps carries take turns',
    default: '1m',
  },
  {
    flags: '--self-check-period <DURATION>',
    description: 'between two comparisons of the ownership graph with fresh lists of everything; 0 for none',
    default: '0',
  },
  {
    flags: '--gc-ignored-resources <LIST>',
    description:
      'GROUP/RESOURCE to leave alone, beside events (repeat, or separate by commas); core resources without group',
    repeatable: true,
  },
  {
    flags: '--orphan-barrier [BOOL]',
    description: 'before an owner that is orphaned goes, look with fresh lists for dependents that came late',
    default: 'true',
  },
  {
    flags: '--orphan-records <WHERE>',
    description: 'where it is noted for an hour which owners were orphaned, so that who comes late is let go too',
    choices: ['events', 'memory'],
    default: 'events',
  },
  {
    flags: '--resolve-unserved-versions',
    description: 'look for owners named in a version that is not served any more in one that is',
  },
  { flags: '--leader-elect [BOOL]', description: 'work only while holding the lease', default: 'true' },
  {
    flags: '--leader-elect-lease-duration <DURATION>',
    description: 'how long others wait after the last renewal they saw',
    default: usualLeaseTimes.leaderElectLeaseDuration,
  },
  {
    flags: '--leader-elect-renew-deadline <DURATION>',
    description: 'how long the leader acts without a renewal',
    default: usualLeaseTimes.leaderElectRenewDeadline,
  },
  {
    flags: '--leader-elect-retry-period <DURATION>',
    description: 'between two attempts',
    default: usualLeaseTimes.leaderElectRetryPeriod,
  },
  {
    flags: '--leader-elect-resource-lock <KIND>',
    description: 'what the lock is',
    choices: ['leases'],
    default: 'leases',
  },
  { flags: '--leader-elect-resource-name <NAME>', description: 'the lease', default: 'kubegc-collector' },
  { flags: '--leader-elect-resource-namespace <NAME>', description: 'where the lease is', default: 'kube-system' },
  {
    flags: '--kube-api-qps <N>',
    description: "requests a second; 0 sets no limit and leaves it to the server's own fairness",
    default: '0',
  },
  {
    flags: '--kube-api-burst <N>',
    description: 'requests at once after a pause; 0 is one and a half seconds of --kube-api-qps',
    default: '0',
  },
  {
    flags: '--kube-api-content-type <TYPE>',
    description: 'what lists and watches are asked for in; all else is JSON',
    choices: ['application/vnd.kubernetes.protobuf', 'application/json'] satisfies KubeApiContentType[],
    default: 'application/vnd.kubernetes.protobuf',
  },
  {
    flags: '--bind-address <HOST:PORT>',
    description:
      'serve /healthz, /readyz, /metrics and the debug pages over plain HTTP; off unless given; :PORT is 127.0.0.1 alone',
  },
  {
    flags: '--bind-token-file <FILE>',
    description: 'bearer token that /metrics and the debug graph ask for; needed for addresses other than loopback',
  },
  { flags: '--explain-every-action', description: 'log every decision with its reason, one line each' },
  {
    flags: '--log-level <LEVEL>',
    description: 'least level to log',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
  },
  {
    flags: '--log-format <FORMAT>',
    description: 'text for people, json for programs',
    choices: ['text', 'json'],
    default: 'text',
  },
];
