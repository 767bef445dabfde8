import type { Clock } from '../../base/time/clock.ts';

/** From this size on, each step of a write yields the event loop. In bytes of the request and of the stored object. */
const LONG_WORK_BYTES = 64 * 1024;

/** Yields the event loop between two steps of long work. Undefined for short work. */
export function betweenSteps(clock: Clock, bytes: number): Promise<void> | undefined {
  if (bytes < LONG_WORK_BYTES) return undefined;
  return new Promise((resolve) => clock.defer(resolve));
}

/** Operations of a patch in one turn of the event loop. Each may move all elements of a long list. */
const STEPS_IN_A_TURN = 100;

/** Runs work that pauses between its steps, and yields the event loop after some of them. */
export async function runInTurns<T>(clock: Clock, steps: Generator<undefined, T>): Promise<T> {
  for (let taken = 1; ; taken++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (taken % STEPS_IN_A_TURN === 0) await new Promise<void>((resolve) => void clock.defer(resolve));
  }
}
