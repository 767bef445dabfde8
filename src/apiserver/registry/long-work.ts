import type { Clock } from '../../base/time/clock.ts';

/** From this size on, each step of a write has a turn of the event loop of its own. Bytes of what was sent and what is stored. */
const LONG_WORK_BYTES = 64 * 1024;

/** Lets others have a turn between two steps of long work. Undefined for work that is short. */
export function betweenSteps(clock: Clock, bytes: number): Promise<void> | undefined {
  if (bytes < LONG_WORK_BYTES) return undefined;
  return new Promise((resolve) => clock.defer(resolve));
}
