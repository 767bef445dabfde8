import type { DeletionLimits } from '../../collector/breaker/circuit-breaker.ts';
import { CommandError } from '../process/command-error.ts';

const MOST = 1_000_000_000;

/** The limits of a collector's deletions; undefined when no flag gives one. Throws a CommandError for a value that is no number. */
export function deletionLimitsOf(flags: {
  readonly maxDeletesPerMinute?: string;
  readonly maxDeletesPerMinuteOverall?: string;
}): DeletionLimits | undefined {
  const perCause = limitOf('--max-deletes-per-minute', flags.maxDeletesPerMinute);
  const overall = limitOf('--max-deletes-per-minute-overall', flags.maxDeletesPerMinuteOverall);
  if (perCause === undefined && overall === undefined) return undefined;
  return { ...(perCause === undefined ? {} : { perCause }), ...(overall === undefined ? {} : { overall }) };
}

function limitOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MOST) return value;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a whole number from 1 to ${MOST}, or leave it away.`);
}
