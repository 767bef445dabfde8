import { StoreOverloadedError, StoreTooLargeError, StoreUnavailableError } from '../storage/store-errors.ts';

/** The outcome of a write. `unknown` means that it may be stored, or be stored later. */
export type StoreOutcome = 'stored' | 'not stored' | 'unknown';

/** The outcome of a write that failed with this error. Only some errors prove that nothing was written. */
export function outcomeOf(error: unknown): StoreOutcome {
  const refused =
    error instanceof StoreUnavailableError ||
    error instanceof StoreOverloadedError ||
    error instanceof StoreTooLargeError;
  return refused ? 'not stored' : 'unknown';
}
