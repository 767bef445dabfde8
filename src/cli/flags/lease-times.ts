import { invalidLeaseTimes, type LeaseTimes } from '../../client/election/leader-election.ts';
import { CommandError } from '../process/command-error.ts';
import { durationOf } from './duration-flag.ts';

const DAY_MS = 24 * 60 * 60_000;

/** The times of a leader election as texts, from the flags of kube-controller-manager. */
export interface LeaseTimeFlags {
  readonly leaderElectLeaseDuration: string;
  readonly leaderElectRenewDeadline: string;
  readonly leaderElectRetryPeriod: string;
}

/** Throws a {@link CommandError} that names the flag. */
export function leaseTimesOf(flags: LeaseTimeFlags): LeaseTimes {
  const range = { least: 1, most: DAY_MS };
  const times = {
    leaseDurationMs: durationOf('--leader-elect-lease-duration', flags.leaderElectLeaseDuration, range),
    renewDeadlineMs: durationOf('--leader-elect-renew-deadline', flags.leaderElectRenewDeadline, range),
    retryPeriodMs: durationOf('--leader-elect-retry-period', flags.leaderElectRetryPeriod, range),
  };
  const problem = invalidLeaseTimes(times);
  if (problem !== undefined) {
    throw new CommandError(
      `the times of the leader election do not fit together: ${problem}`,
      'The lease duration is longer than the renew deadline, and that more than 1.2 times the retry period; 15s, 10s and 2s are usual.',
    );
  }
  return times;
}
