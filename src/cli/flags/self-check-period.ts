import { durationOf } from './duration-flag.ts';

/** Minimum period. A check lists everything, and a shorter period would keep the server busy. */
const LEAST_MS = 60_000;
const MOST_MS = 24 * 60 * 60_000;

/** Milliseconds of `--self-check-period`; undefined for none. Throws a CommandError for a malformed value. */
export function selfCheckPeriodOf(text: string): number | undefined {
  if (text === '0' || text === '0s') return undefined;
  return durationOf('--self-check-period', text, { least: LEAST_MS, most: MOST_MS });
}
