import { asError } from '../../base/errors/thrown.ts';
import { given } from '../../lifecycle/assembly/controller-entry.ts';
import { type LifecycleSettings, SYNCED_KINDS } from '../../lifecycle/assembly/lifecycle-settings.ts';
import type { NodeExistenceSettings } from '../../lifecycle/node-existence/node-existence-controller.ts';
import { EXCLUDED_RESOURCES } from '../../lifecycle/generic-ttl/generic-ttl-reconcile.ts';
import { parseSource, type SourceSpec } from '../../lifecycle/node-existence/source-spec.ts';
import type { NodeHealthSettings } from '../../lifecycle/node-lifecycle/node-lifecycle-controller.ts';
import { offByDefault } from '../../assembly/controller-names.ts';
import { selectControllers } from './select-controllers.ts';
import { CommandError } from '../process/command-error.ts';
import { durationOf } from './duration-flag.ts';

/** Values of the command line, as a person typed them. */
export interface LifecycleFlags {
  readonly compat?: string;
  readonly dryRunControllers?: string;
  readonly terminatedPodGcThreshold?: string;
  readonly concurrentTtlAfterFinishedSyncs?: string;
  readonly concurrentJobSyncs?: string;
  readonly concurrentCronJobSyncs?: string;
  readonly concurrentDeploymentSyncs?: string;
  readonly concurrentReplicasetSyncs?: string;
  readonly concurrentRcSyncs?: string;
  readonly concurrent_rc_syncs?: string;
  readonly concurrentStatefulsetSyncs?: string;
  readonly concurrentDaemonsetSyncs?: string;
  readonly concurrentResourceclaimSyncs?: string;
  readonly deploymentCleanupDuringRollout?: boolean;
  readonly podTtl?: boolean;
  readonly genericTtl?: boolean;
  readonly genericTtlKinds?: string;
  readonly unusedClaims?: string;
  readonly pvcProtectionIgnoreFinishedPods?: boolean;
  readonly simulatePods?: string;
  readonly simulateNodes?: string;
  readonly pvclaimbinderSyncPeriod?: string;
  readonly hostpathDeleter?: boolean;
  readonly nodeExistenceSource?: string;
  readonly nodeExistencePeriod?: string;
  readonly nodeExistenceMaxDeleteFraction?: string;
  readonly nodeAbsentAfter?: string;
  readonly nodeHealth?: string;
  readonly nodeMonitorPeriod?: string;
  readonly nodeMonitorGracePeriod?: string;
  readonly nodeStartupGracePeriod?: string;
  readonly legacyServiceAccountTokenCleanUpPeriod?: string;
  readonly podGcCheckPeriod?: string;
  readonly podGcQuarantine?: string;
  readonly podGcMaxTerminatedPerNamespace?: string;
  readonly podGcTerminatedTtl?: string;
  readonly csrPollInterval?: string;
  readonly csrApprovedExpiration?: string;
  readonly csrDeniedExpiration?: string;
  readonly csrPendingExpiration?: string;
  readonly nodeLeaseMinAge?: string;
  readonly concurrentNamespaceSyncs?: string;
  readonly namespaceSyncPeriod?: string;
  readonly namespaceDeletionDelay?: string;
}

const MAX_NODES = 10_000;
const MAX_WORKERS = 1000;
/** The maximum that kube-controller-manager accepts: an int32. */
const MAX_INT32 = 2 ** 31 - 1;

/** Throws a {@link CommandError} that names the flag. */
export function lifecycleSettingsOf(flags: LifecycleFlags): LifecycleSettings {
  const { simulatePods: pods = 'off' } = flags;
  if (pods !== 'off' && pods !== 'schedule' && pods !== 'run') {
    throw new CommandError(`invalid --simulate-pods "${pods}"`, 'Give off, schedule or run.');
  }
  const nodes = wholeNumber('--simulate-nodes', flags.simulateNodes, { least: 0, most: MAX_NODES });
  const threshold = wholeNumber('--terminated-pod-gc-threshold', flags.terminatedPodGcThreshold, {
    least: -MAX_INT32,
    most: MAX_INT32,
  });
  const workers = { least: 1, most: MAX_WORKERS };
  const ttlSyncs = wholeNumber('--concurrent-ttl-after-finished-syncs', flags.concurrentTtlAfterFinishedSyncs, workers);
  const jobSyncs = wholeNumber('--concurrent-job-syncs', flags.concurrentJobSyncs, workers);
  const cronJobSyncs = wholeNumber('--concurrent-cron-job-syncs', flags.concurrentCronJobSyncs, workers);
  return {
    ...compatibilityOf(flags),
    ...dryRunOf(flags),
    ...(threshold === undefined ? {} : { terminatedPodThreshold: threshold }),
    ...(ttlSyncs === undefined ? {} : { concurrentTtlSyncs: ttlSyncs }),
    ...(jobSyncs === undefined ? {} : { concurrentJobSyncs: jobSyncs }),
    ...(cronJobSyncs === undefined ? {} : { concurrentCronJobSyncs: cronJobSyncs }),
    concurrentSyncs: concurrentSyncsOf(flags),
    ...(flags.deploymentCleanupDuringRollout === true ? { deploymentCleanUpDuringRollout: true } : {}),
    ...(flags.podTtl === true ? { podTtl: true } : {}),
    ...volumeSettings(flags),
    ...nodeSettings(flags),
    ...tokenSettings(flags),
    ...ttlSettings(flags),
    ...cleanUpSettings(flags),
    ...namespaceSettings(flags),
    simulate: { ...(pods === 'off' ? {} : { pods }), ...(nodes === undefined ? {} : { nodes }) },
  };
}

/** Flags for what kube-controller-manager cannot do. `--compat strict` refuses them. */
const ADDITIONS: readonly (readonly [flag: string, isGiven: (flags: LifecycleFlags) => boolean])[] = [
  ['--pod-gc-max-terminated-per-namespace', ({ podGcMaxTerminatedPerNamespace: given }) => given !== undefined],
  ['--pod-gc-terminated-ttl', ({ podGcTerminatedTtl: given }) => given !== undefined],
  ['--pod-ttl', ({ podTtl }) => podTtl === true],
  ['--generic-ttl', ({ genericTtl }) => genericTtl === true],
  ['--unused-claims delete', ({ unusedClaims }) => unusedClaims === 'delete'],
  ['--pvc-protection-ignore-finished-pods', ({ pvcProtectionIgnoreFinishedPods: given }) => given === true],
  ['--deployment-cleanup-during-rollout', ({ deploymentCleanupDuringRollout: given }) => given === true],
  ['--node-existence-source', ({ nodeExistenceSource }) => nodeExistenceSource !== undefined],
];

function compatibilityOf(flags: LifecycleFlags): LifecycleSettings {
  const { compat } = flags;
  if (compat === undefined || compat === 'improved') return {};
  if (compat !== 'strict') throw new CommandError(`invalid --compat "${compat}"`, 'Give improved or strict.');
  const [addition] = ADDITIONS.find(([, isGiven]) => isGiven(flags)) ?? [];
  if (addition === undefined) return { compat };
  throw new CommandError(
    `${addition} adds to what Kubernetes does, and --compat strict adds nothing`,
    'Leave one of the two away.',
  );
}

const COLLECTOR = 'garbage-collector-controller';

function dryRunOf({ dryRunControllers: text }: LifecycleFlags): LifecycleSettings {
  if (text === undefined) return {};
  const words = text.split(',').map((word) => word.trim());
  // With `*` also a controller that only its name switches on.
  const dry = new Set<string>(selectControllers(words.includes('*') ? [...words, ...offByDefault] : words));
  if (dry.delete(COLLECTOR) && !words.includes('*')) {
    throw new CommandError(
      `--dry-run-controllers does not apply to ${COLLECTOR}`,
      'Use kubegc collect --mode observe --explain-every-action, which deletes nothing.',
    );
  }
  return { dryRun: dry };
}

/** The flag of kind `rc` is `--concurrent-rc-syncs`, with the value `concurrentRcSyncs`. */
function concurrentSyncsOf(flags: LifecycleFlags): NonNullable<LifecycleSettings['concurrentSyncs']> {
  return Object.fromEntries(
    SYNCED_KINDS.flatMap((kind) => {
      const text =
        flags[`concurrent${capitalized(kind)}Syncs`] ?? (kind === 'rc' ? flags.concurrent_rc_syncs : undefined);
      const bounds = { least: 1, most: MAX_WORKERS };
      const count = wholeNumber(`--concurrent-${kind}-syncs`, text, bounds);
      return count === undefined ? [] : [[kind, count]];
    }),
  );
}

function capitalized<T extends string>(text: T): Capitalize<T> {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}` as Capitalize<T>;
}

const HOUR_MS = 3_600_000;
const PERIOD = { least: 100, most: HOUR_MS };

function volumeSettings({
  pvclaimbinderSyncPeriod,
  hostpathDeleter,
  unusedClaims = 'off',
  pvcProtectionIgnoreFinishedPods,
}: LifecycleFlags): LifecycleSettings {
  if (unusedClaims !== 'off' && unusedClaims !== 'report' && unusedClaims !== 'delete') {
    throw new CommandError(`invalid --unused-claims "${unusedClaims}"`, 'Give off, report or delete.');
  }
  return {
    ...(unusedClaims === 'off' ? {} : { unusedClaims }),
    ...(pvcProtectionIgnoreFinishedPods === true ? { claimProtection: { ignoreFinishedPods: true } } : {}),
    ...(hostpathDeleter === true ? { hostPathDeleter: true } : {}),
    ...(pvclaimbinderSyncPeriod === undefined
      ? {}
      : { volumeSyncPeriodMs: durationOf('--pvclaimbinder-sync-period', pvclaimbinderSyncPeriod, PERIOD) }),
  };
}

const DAY_MS = 24 * HOUR_MS;

function cleanUpSettings(flags: LifecycleFlags): LifecycleSettings {
  const year = { least: 1000, most: 365 * DAY_MS };
  return {
    podGc: given({
      checkPeriodMs: optionalDuration('--pod-gc-check-period', flags.podGcCheckPeriod, PERIOD),
      quarantineMs: optionalDuration('--pod-gc-quarantine', flags.podGcQuarantine, PERIOD),
      maxTerminatedPerNamespace: wholeNumber(
        '--pod-gc-max-terminated-per-namespace',
        flags.podGcMaxTerminatedPerNamespace,
        { least: 0, most: MAX_INT32 },
      ),
      terminatedTtlMs: optionalDuration('--pod-gc-terminated-ttl', flags.podGcTerminatedTtl, { ...year, least: 0 }),
    }),
    csrCleaner: given({
      pollIntervalMs: optionalDuration('--csr-poll-interval', flags.csrPollInterval, { least: 1000, most: DAY_MS }),
      approvedMs: optionalDuration('--csr-approved-expiration', flags.csrApprovedExpiration, year),
      deniedMs: optionalDuration('--csr-denied-expiration', flags.csrDeniedExpiration, year),
      pendingMs: optionalDuration('--csr-pending-expiration', flags.csrPendingExpiration, year),
    }),
    ...given({ nodeLeaseMinAgeMs: optionalDuration('--node-lease-min-age', flags.nodeLeaseMinAge, year) }),
  };
}

function namespaceSettings(flags: LifecycleFlags): LifecycleSettings {
  const workers = { least: 1, most: MAX_WORKERS };
  const delay = { least: 0, most: HOUR_MS };
  return {
    namespaces: given({
      concurrentNamespaceSyncs: wholeNumber('--concurrent-namespace-syncs', flags.concurrentNamespaceSyncs, workers),
      resyncMs: optionalDuration('--namespace-sync-period', flags.namespaceSyncPeriod, { least: 100, most: DAY_MS }),
      deletionDelayMs: optionalDuration('--namespace-deletion-delay', flags.namespaceDeletionDelay, delay),
    }),
  };
}

function optionalDuration(
  flag: string,
  text: string | undefined,
  bounds: { readonly least: number; readonly most: number },
): number | undefined {
  return text === undefined ? undefined : durationOf(flag, text, bounds);
}

function nodeSettings(flags: LifecycleFlags): LifecycleSettings {
  const { nodeHealth: mode = 'auto', nodeExistenceSource: source } = flags;
  if (mode !== 'auto' && mode !== 'on' && mode !== 'off') {
    throw new CommandError(`invalid --node-health "${mode}"`, 'Give auto, on or off.');
  }
  const duration = (flag: string, text: string | undefined, bounds = PERIOD): number | undefined =>
    optionalDuration(flag, text, bounds);
  const nodeHealth: NodeHealthSettings = {
    mode,
    ...given({
      monitorPeriodMs: duration('--node-monitor-period', flags.nodeMonitorPeriod),
      gracePeriodMs: duration('--node-monitor-grace-period', flags.nodeMonitorGracePeriod),
      startupGracePeriodMs: duration('--node-startup-grace-period', flags.nodeStartupGracePeriod),
    }),
  };
  const absent = { least: 600_000, most: 24 * 365 * HOUR_MS };
  const absentAfterMs = duration('--node-absent-after', flags.nodeAbsentAfter, absent);
  if (source === undefined) return { nodeHealth };
  const nodeExistence: NodeExistenceSettings = {
    source: sourceOf(source, absentAfterMs),
    ...given({
      periodMs: duration('--node-existence-period', flags.nodeExistencePeriod),
      maxDeleteFraction: fraction('--node-existence-max-delete-fraction', flags.nodeExistenceMaxDeleteFraction),
    }),
  };
  return { nodeHealth, nodeExistence };
}

/** Ten years. */
const LONG_PERIOD = { least: 1000, most: 10 * 365 * 24 * HOUR_MS };

function tokenSettings({ legacyServiceAccountTokenCleanUpPeriod: text }: LifecycleFlags): LifecycleSettings {
  if (text === undefined) return {};
  const flag = '--legacy-service-account-token-clean-up-period';
  return { legacyTokenCleanUpPeriodMs: durationOf(flag, text, LONG_PERIOD) };
}

function ttlSettings({ genericTtl, genericTtlKinds = '' }: LifecycleFlags): LifecycleSettings {
  const alsoKinds = genericTtlKinds
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = alsoKinds.find((name) => !EXCLUDED_RESOURCES.has(name));
  if (unknown !== undefined) {
    throw new CommandError(
      `invalid --generic-ttl-kinds "${unknown}"`,
      `Give some of ${[...EXCLUDED_RESOURCES].join(', ')}; all other kinds have a TTL anyway.`,
    );
  }
  if (genericTtl === true) return { genericTtl: { alsoKinds } };
  if (alsoKinds.length === 0) return {};
  throw new CommandError('--generic-ttl-kinds does nothing without --generic-ttl', 'Give both, or neither.');
}

function sourceOf(text: string, absentAfterMs: number | undefined): SourceSpec {
  try {
    return parseSource(text, absentAfterMs);
  } catch (error) {
    throw new CommandError(`invalid --node-existence-source "${text}"`, `${asError(error).message}.`);
  }
}

function fraction(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && number >= 0 && number <= 1) return number;
  throw new CommandError(`invalid ${flag} "${text}"`, 'Give a number from 0 to 1.');
}

function wholeNumber(
  flag: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^-?\d+$/.test(text) && number >= least && number <= most) return number;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a whole number from ${least} to ${most}.`);
}
