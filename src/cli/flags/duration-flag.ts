import { parseGoDuration } from '../../api/meta/duration.ts';
import { CommandError } from '../process/command-error.ts';

/** The milliseconds of a duration flag. Throws a {@link CommandError} that names the flag. */
export function durationOf(
  flag: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) {
    throw new CommandError(`invalid ${flag} "${text}"`, 'Give a duration such as 30s, 1m30s or 500ms.');
  }
  if (ms >= least && ms <= most) return ms;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a duration from ${least} ms to ${most / 3_600_000} h.`);
}
