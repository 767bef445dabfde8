import type { FieldError } from '../../api/field-error.ts';
import { finished, inTurns, type Steps } from '../../base/time/steps.ts';
import type { Findings } from './strategy.ts';
import type { Clock } from '../../base/time/clock.ts';

/** From this size on, each step of a write yields the event loop. In bytes of the request and of the stored object. */
const LONG_WORK_BYTES = 64 * 1024;

/** Yields the event loop between two steps of long work. Undefined for short work. */
export function betweenSteps(clock: Clock, bytes: number): Promise<void> | undefined {
  if (bytes < LONG_WORK_BYTES) return undefined;
  return new Promise((resolve) => clock.defer(resolve));
}

/** Runs the steps of reading a body at once, or those of a large one in several turns of the event loop. */
export function inTurnsIfLong<T>(clock: Clock, bytes: number, steps: Steps<T>): T | Promise<T> {
  return bytes < LONG_WORK_BYTES ? finished(steps) : inTurns(clock, steps);
}

/** Runs the steps at once, or those of long work in several turns of the event loop. Undefined if they have run. */
export function runSteps(clock: Clock, bytes: number | undefined, steps: Steps<void>): Promise<void> | undefined {
  if (bytes !== undefined && bytes >= LONG_WORK_BYTES) return inTurns(clock, steps);
  finished(steps);
  return undefined;
}

/** The steps of a validation. One that returned its findings at once has no pause. */
export function* stepsOf(findings: Findings): Steps<readonly FieldError[]> {
  return Array.isArray(findings)
    ? (findings as readonly FieldError[])
    : yield* findings as Steps<readonly FieldError[]>;
}
