import { isDns1123Label, isDns1123Subdomain } from '../../api/validation/names.ts';
import type { LeaseTimes } from '../../client/election/leader-election.ts';
import { defaultIgnoredResources, type GroupResourceName } from '../../collector/resources/deletable-resources.ts';
import type { RetryOptions } from '../../collector/queues/queues.ts';
import type { DeletionLimits } from '../../collector/breaker/circuit-breaker.ts';
import type { UnservedVersions } from '../../collector/resources/kind-mapper.ts';
import type { KubeApiContentType } from './collect-content-type.ts';
import type { ControllerName } from '../../assembly/controller-names.ts';
import { selectControllers } from '../flags/select-controllers.ts';
import type { CollectFlags } from './collect-options.ts';
import { CommandError } from '../process/command-error.ts';
import { durationOf } from '../flags/duration-flag.ts';
import { deletionLimitsOf } from '../flags/deletion-limits.ts';
import { lifecycleSettingsOf } from '../flags/lifecycle-flags.ts';
import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import { leaseTimesOf } from '../flags/lease-times.ts';
import { orphanTimesOf } from '../flags/orphan-times.ts';
import { selfCheckPeriodOf } from '../flags/self-check-period.ts';
import type { RequestRate } from '../flags/request-rate.ts';

const COLLECTOR = 'garbage-collector-controller';

interface LeaseSettings {
  readonly namespace: string;
  readonly name: string;
  readonly times: LeaseTimes;
}

/** The checked settings of `kubegc collect`. */
export interface CollectSettings {
  /** `off` means that nothing is collected. */
  readonly garbageCollector: 'on' | 'off';
  readonly mode: CollectFlags['mode'];
  /** Controllers that run beside the collector, or without it. */
  readonly controllers: ReadonlySet<ControllerName>;
  /** The settings of these controllers. */
  readonly lifecycle: LifecycleSettings;
  /** Namespace of the probe; undefined if no probe is allowed. */
  readonly probe: string | undefined;
  readonly concurrentGcSyncs: number;
  readonly syncPeriodMs: number;
  readonly initialSyncTimeoutMs: number;
  /** Entries of the absent-owner cache. */
  readonly absentOwners: number;
  readonly retry: Required<RetryOptions>;
  readonly retryCapMs: number;
  /** Undefined means only on request. */
  readonly selfCheckPeriodMs: number | undefined;
  readonly ignoredResources: readonly GroupResourceName[];
  readonly orphanBarrier: 'on' | 'off';
  readonly orphanRecords: CollectFlags['orphanRecords'];
  readonly orphanTimes: ReturnType<typeof orphanTimesOf>;
  readonly unservedVersions: UnservedVersions;
  /** Undefined means no limit. */
  readonly deletionLimits: DeletionLimits | undefined;
  /** Undefined means without leader election. */
  readonly lease: LeaseSettings | undefined;
  /** Undefined means no limit (BETTER-19). */
  readonly rate: RequestRate | undefined;
  readonly contentType: KubeApiContentType;
}

/** The lease of kube-controller-manager, which runs the collector of most clusters (COL-204, COL-214). */
export const otherCollectorsLease = { namespace: 'kube-system', name: 'kube-controller-manager' } as const;

/** The default name of the lease of processes that collect, and of those that only run other controllers. */
const COLLECTORS_LEASE = 'kubegc-collector';
const CONTROLLERS_LEASE = 'kubegc-collect-controllers';

const MAX_WORKERS = 1000;
const MAX_RATE = 100_000;
const MAX_ABSENT = 10_000_000;
const DAY_MS = 24 * 60 * 60_000;

/** Throws a {@link CommandError} that names the flag. */
export function collectSettings(flags: CollectFlags): CollectSettings {
  const qps = numberOf('--kube-api-qps', flags.kubeApiQps, { least: 0, most: MAX_RATE });
  const burst = wholeOf('--kube-api-burst', flags.kubeApiBurst, { least: 0, most: MAX_RATE });
  if (qps === 0 && burst > 0) {
    throw new CommandError('--kube-api-burst does nothing without --kube-api-qps', 'Give both, or neither.');
  }
  const { baseMs, retryCapMs } = waitsOf(flags);
  const { collects, controllers } = selectedControllers(flags);
  const lifecycle = withDelay(lifecycleSettingsOf(flags));
  refuseWithoutController(lifecycle, controllers);
  const enabled = isOn('--enable-garbage-collector', flags.enableGarbageCollector);
  const garbageCollector = enabled && collects ? 'on' : 'off';
  return {
    garbageCollector,
    mode: flags.mode,
    controllers,
    lifecycle,
    probe: probeOf(flags),
    concurrentGcSyncs: wholeOf('--concurrent-gc-syncs', flags.concurrentGcSyncs, { least: 1, most: MAX_WORKERS }),
    syncPeriodMs: durationOf('--sync-period', flags.syncPeriod, { least: 1000, most: DAY_MS }),
    initialSyncTimeoutMs: durationOf('--initial-sync-timeout', flags.initialSyncTimeout, { least: 1, most: DAY_MS }),
    absentOwners: wholeOf('--absent-owner-cache-size', flags.absentOwnerCacheSize, { least: 1, most: MAX_ABSENT }),
    retry: {
      baseMs,
      ratePerSecond: numberOf('--retry-qps', flags.retryQps, { least: 0.1, most: MAX_RATE }),
      burst: wholeOf('--retry-burst', flags.retryBurst, { least: 1, most: MAX_RATE }),
    },
    retryCapMs,
    selfCheckPeriodMs: selfCheckPeriodOf(flags.selfCheckPeriod),
    // Events are never collected (COL-203).
    ignoredResources: [...defaultIgnoredResources, ...ignoredOf(flags.gcIgnoredResources ?? [])],
    orphanBarrier: isOn('--orphan-barrier', flags.orphanBarrier) ? 'on' : 'off',
    orphanRecords: flags.orphanRecords,
    orphanTimes: orphanTimesOf(flags),
    unservedVersions: flags.resolveUnservedVersions === true ? 'otherVersion' : 'unresolved',
    deletionLimits: deletionLimitsOf(flags),
    lease: isOn('--leader-elect', flags.leaderElect) ? leaseOf(flags, garbageCollector) : undefined,
    rate: qps === 0 ? undefined : { qps, burst: burst === 0 ? Math.max(1, Math.ceil(qps * 1.5)) : burst },
    contentType: flags.kubeApiContentType,
  };
}

/** These controllers write secrets of the server itself: its certificate authority, and the key of its tokens. */
const SERVERS_OWN: readonly ControllerName[] = [
  'root-ca-certificate-publisher-controller',
  'serviceaccount-token-controller',
];

function selectedControllers(flags: CollectFlags): {
  readonly collects: boolean;
  readonly controllers: ReadonlySet<ControllerName>;
} {
  const { controllers: words = [COLLECTOR], mode, probe } = flags;
  const selected = selectControllers(words);
  const named = words.flatMap((list) => list.split(',')).map((word) => word.trim());
  for (const name of SERVERS_OWN) {
    if (selected.has(name) && !named.includes('*')) {
      throw new CommandError(
        `${name} runs only inside an API server, which has the keys that it needs`,
        'Leave it out of --controllers.',
      );
    }
  }
  const controllers = new Set([...selected].filter((name) => name !== COLLECTOR && !SERVERS_OWN.includes(name)));
  if (controllers.size > 0 && mode === 'observe') {
    throw new CommandError(
      `--controllers does nothing with --mode observe: only the collector can observe, and ${[...controllers][0]} is asked for`,
      'Give --mode collect, or --mode auto to run them only where no kube-controller-manager does.',
    );
  }
  if (controllers.size > 0 && probe !== undefined) {
    throw new CommandError(
      '--probe finds out about collectors only, and other controllers are asked for',
      'Leave one of the two away.',
    );
  }
  return { collects: selected.has(COLLECTOR), controllers };
}

/** Settings that only add to a controller, which must be selected. */
const ADDITIONS: readonly (readonly [
  flag: string,
  ControllerName,
  isGiven: (settings: LifecycleSettings) => boolean,
])[] = [
  ['--pod-ttl', 'ttl-after-finished-controller', ({ podTtl = false }) => podTtl],
  ['--generic-ttl', 'ttl-after-finished-controller', ({ genericTtl }) => genericTtl !== undefined],
  ['--unused-claims', 'persistentvolumeclaim-protection-controller', ({ unusedClaims }) => unusedClaims !== undefined],
  [
    '--pod-gc-max-terminated-per-namespace',
    'pod-garbage-collector-controller',
    ({ podGc = {} }) => (podGc.maxTerminatedPerNamespace ?? 0) > 0,
  ],
  ['--pod-gc-terminated-ttl', 'pod-garbage-collector-controller', ({ podGc = {} }) => (podGc.terminatedTtlMs ?? 0) > 0],
  [
    '--pvc-protection-ignore-finished-pods',
    'persistentvolumeclaim-protection-controller',
    ({ claimProtection = {} }) => claimProtection.ignoreFinishedPods === true,
  ],
  [
    '--deployment-cleanup-during-rollout',
    'deployment-controller',
    ({ deploymentCleanUpDuringRollout = false }) => deploymentCleanUpDuringRollout,
  ],
];

/** Upstream waits as long, because one of several API servers may admit a write before it sees the deletion of its namespace (LIFE-449). */
const DELETION_DELAY_MS = 5000;

function withDelay(settings: LifecycleSettings): LifecycleSettings {
  return { ...settings, namespaces: { deletionDelayMs: DELETION_DELAY_MS, ...settings.namespaces } };
}

function refuseWithoutController(lifecycle: LifecycleSettings, controllers: ReadonlySet<ControllerName>): void {
  for (const [flag, controller, isGiven] of ADDITIONS) {
    if (!isGiven(lifecycle) || controllers.has(controller)) continue;
    throw new CommandError(`${flag} does nothing without ${controller}`, 'Add it to --controllers.');
  }
}

interface Range {
  readonly least: number;
  readonly most: number;
}

function wholeOf(flag: string, text: string, range: Range): number {
  if (/^\d+$/.test(text)) return numberOf(flag, text, range);
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a whole number from ${range.least} to ${range.most}.`);
}

function numberOf(flag: string, text: string, { least, most }: Range): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a number from ${least} to ${most}.`);
}

/** The waits after the first failure of an object, and the maximum. */
function waitsOf({ retryBase, retryCap }: CollectFlags): { readonly baseMs: number; readonly retryCapMs: number } {
  const baseMs = durationOf('--retry-base', retryBase, { least: 1, most: DAY_MS });
  const retryCapMs = durationOf('--retry-cap', retryCap, { least: 5, most: DAY_MS });
  if (retryCapMs >= baseMs) return { baseMs, retryCapMs };
  throw new CommandError(
    `--retry-cap ${retryCap} is shorter than --retry-base ${retryBase}`,
    'The longest wait cannot be shorter than the first; 5ms and 1m are usual.',
  );
}

function probeOf({ mode, probe }: CollectFlags): string | undefined {
  if (probe === undefined) return undefined;
  if (mode !== 'auto') {
    throw new CommandError(`--probe does nothing with --mode ${mode}`, 'Give --mode auto with it.');
  }
  if (isDns1123Label(probe).length === 0) return probe;
  throw new CommandError(`invalid --probe "${probe}"`, 'Give the name of a namespace.');
}

function isOn(flag: string, value: string | true): boolean {
  if (value === true || value === 'true') return true;
  if (value === 'false') return false;
  throw new CommandError(`invalid ${flag} "${value}"`, 'Give true or false.');
}

/** Processes that collect share one lease, and those that do not have another: each set of controllers has one leader. */
function leaseOf(flags: CollectFlags, garbageCollector: 'on' | 'off'): LeaseSettings {
  const times = leaseTimesOf(flags);
  const { leaderElectResourceName: asked, leaderElectResourceNamespace: namespace } = flags;
  const name = garbageCollector === 'off' && asked === COLLECTORS_LEASE ? CONTROLLERS_LEASE : asked;
  refuseUnlessName('--leader-elect-resource-name', name, isDns1123Subdomain(name));
  refuseUnlessName('--leader-elect-resource-namespace', namespace, isDns1123Label(namespace));
  if (name === otherCollectorsLease.name && namespace === otherCollectorsLease.namespace) {
    throw new CommandError(
      `the lease ${namespace}/${name} is that of kube-controller-manager: holding it would stop all of its controllers`,
      'Leave --leader-elect-resource-name away, or choose another name (docs/collect.md).',
    );
  }
  return { name, namespace, times };
}

function refuseUnlessName(flag: string, text: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new CommandError(`invalid ${flag} "${text}"`, problems.join('; '));
}

function ignoredOf(lists: readonly string[]): GroupResourceName[] {
  return lists
    .flatMap((list) => list.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, group = '', resource = ''] = /^(?:([a-z0-9.-]*)\/)?([a-z0-9-]+)$/.exec(entry) ?? [];
      if (resource === '') {
        throw new CommandError(
          `invalid --gc-ignored-resources entry "${entry}"`,
          'Give GROUP/RESOURCE in the plural, for example apps/replicasets, or only RESOURCE of the core group, for example secrets.',
        );
      }
      // No server has a group with such a name, because the group of a definition contains a dot.
      if (/^v\d+((alpha|beta)\d+)?$/.test(group)) {
        throw new CommandError(
          `invalid --gc-ignored-resources entry "${entry}": ${group} is a version, not a group`,
          `It counts for all versions. Give GROUP/${resource}, or only ${resource} if it is of the core group.`,
        );
      }
      return { group, resource };
    });
}
