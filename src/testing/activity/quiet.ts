import { systemClock } from '../../base/time/clock.ts';
import type { Activity } from './activity.ts';

/** Turns of the event loop in a row without anything under way before it is believed that nothing is. */
const QUIET_TURNS = 3;
/** From this turn on each one is a real millisecond: something waits for the operating system (a file, a socket, a key). */
const PATIENT_AFTER_TURNS = 2000;

/** One turn of the event loop: promises that can settle have settled, and what was deferred before has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.defer(resolve);
  });
}

/**
 * Resolves when nothing inside the cluster can happen without time passing or somebody from outside; false when it is
 * still busy after `maxTurns`.
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
