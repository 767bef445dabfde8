import { systemClock } from '../../base/time/clock.ts';
import type { Activity } from './activity.ts';

/** Number of consecutive idle turns of the event loop after which the cluster counts as idle. */
const QUIET_TURNS = 3;
/** From this turn on each turn is a real millisecond, because something waits for the operating system (a file, a socket, a key). */
const PATIENT_AFTER_TURNS = 2000;

/** One turn of the event loop. Afterwards promises that could settle have settled, and deferred functions have run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.defer(resolve);
  });
}

/**
 * Resolves when nothing inside the cluster can happen without time passing or an external action; false if it is still busy after
 * `maxTurns`.
 */
export async function untilQuiet(activity: Activity, maxTurns: number): Promise<boolean> {
  let quiet = 0;
  let changes = activity.changes;
  for (let turns = 0; turns < maxTurns; turns++) {
    if (turns < PATIENT_AFTER_TURNS) await turn();
    else await new Promise<void>((resolve) => void systemClock.setTimer(1, resolve));
    const idle = activity.deferred === 0 && activity.requests === 0 && activity.changes === changes;
    changes = activity.changes;
    quiet = idle ? quiet + 1 : 0;
    if (quiet >= QUIET_TURNS) return true;
  }
  return false;
}
