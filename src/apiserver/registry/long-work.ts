import type { FieldError } from '../../api/field-error.ts';
import type { Steps } from '../../base/time/steps.ts';
import type { Findings } from './strategy.ts';
import type { Clock } from '../../base/time/clock.ts';

/** From this size on, each step of a write yields the event loop. In bytes of the request and of the stored object. */
const LONG_WORK_BYTES = 64 * 1024;

export function isLong(bytes: number): boolean {
  return bytes >= LONG_WORK_BYTES;
}

/** Yields the event loop between two steps of long work. Undefined for short work. */
export function betweenSteps(clock: Clock, bytes: number): Promise<void> | undefined {
  if (!isLong(bytes)) return undefined;
  return new Promise((resolve) => clock.defer(resolve));
}

/** The steps of a validation, which has one if it is short. */
export function* stepsOf(findings: Findings): Steps<readonly FieldError[]> {
  return Array.isArray(findings)
    ? (findings as readonly FieldError[])
    : yield* findings as Steps<readonly FieldError[]>;
}
