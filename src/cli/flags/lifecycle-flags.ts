import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import { CommandError } from '../process/command-error.ts';

/** Of the command line, all of them a person's texts. */
export interface LifecycleFlags {
  readonly simulatePods?: string;
  readonly simulateNodes?: string;
}

const MAX_NODES = 10_000;

/** Throws a {@link CommandError} that names the flag. */
export function lifecycleSettingsOf(flags: LifecycleFlags): LifecycleSettings {
  const { simulatePods: pods = 'off' } = flags;
  if (pods !== 'off' && pods !== 'schedule' && pods !== 'run') {
    throw new CommandError(`invalid --simulate-pods "${pods}"`, 'Give off, schedule or run.');
  }
  const nodes = wholeNumber('--simulate-nodes', flags.simulateNodes, { least: 0, most: MAX_NODES });
  return {
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
