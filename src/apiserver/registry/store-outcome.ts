import { StoreOverloadedError, StoreTooLargeError, StoreUnavailableError } from '../storage/store-errors.ts';

/** What became of a write. `unknown`: it may be in the store, or come there yet. */
export type StoreOutcome = 'stored' | 'not stored' | 'unknown';

/** Of a write that the store has answered with this error. Only some say for certain that nothing was written. */
export function outcomeOf(error: unknown): StoreOutcome {
  const refused =
    error instanceof StoreUnavailableError ||
    error instanceof StoreOverloadedError ||
    error instanceof StoreTooLargeError;
  return refused ? 'not stored' : 'unknown';
}
