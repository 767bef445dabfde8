import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import { CommandError } from '../process/command-error.ts';

/** Of the command line, all of them a person's texts. */
export interface LifecycleFlags {
  readonly terminatedPodGcThreshold?: string;
  readonly concurrentTtlAfterFinishedSyncs?: string;
  readonly concurrentJobSyncs?: string;
  readonly concurrentCronJobSyncs?: string;
  readonly podTtl?: boolean;
  readonly simulatePods?: string;
  readonly simulateNodes?: string;
}

const MAX_NODES = 10_000;
const MAX_WORKERS = 1000;
/** What kube-controller-manager takes: an int32. */
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
    ...(threshold === undefined ? {} : { terminatedPodThreshold: threshold }),
    ...(ttlSyncs === undefined ? {} : { concurrentTtlSyncs: ttlSyncs }),
    ...(jobSyncs === undefined ? {} : { concurrentJobSyncs: jobSyncs }),
    ...(cronJobSyncs === undefined ? {} : { concurrentCronJobSyncs: cronJobSyncs }),
    ...(flags.podTtl === true ? { podTtl: true } : {}),
    simulate: { ...(pods === 'off' ? {} : { pods }), ...(nodes === undefined ? {} : { nodes }) },
  };
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
