import type { Clock } from '../../base/time/clock.ts';

/** From this size on, each step of a write yields the event loop. In bytes of the request and of the stored object. */
const LONG_WORK_BYTES = 64 * 1024;

/** Yields the event loop between two steps of long work. Undefined for short work. */
export function betweenSteps(clock: Clock, bytes: number): Promise<void> | undefined {
  if (bytes < LONG_WORK_BYTES) return undefined;
  return new Promise((resolve) => clock.defer(resolve));
}
