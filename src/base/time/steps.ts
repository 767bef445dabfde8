import type { Clock } from './clock.ts';

/**
 * Long work that pauses between its steps. Each pause yields the cost of the step before it, in units of some ten microseconds; the last
 * value is the result.
 */
export type Steps<T> = Generator<number, T>;

/** Units that run in one turn of the event loop, so that others wait for some ten milliseconds at most. */
export const A_TURN = 500;

/** Runs all steps at once. */
export function finished<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps, and yields the event loop whenever enough of them have run. */
export async function inTurns<T>(clock: Pick<Clock, 'defer'>, steps: Steps<T>): Promise<T> {
  let units = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    units += step.value;
    if (units < A_TURN) continue;
    units = 0;
    await new Promise<void>((resolve) => void clock.defer(resolve));
  }
}
