import type { AbortNotice } from './abort-notice.ts';

/** Work was aborted by a signal. `cause` is the signal's reason. */
export class AbortError extends Error {
  readonly code = 'ABORT_ERR';
  constructor(message = 'The operation was aborted', options?: ErrorOptions) {
    super(message, options);
    this.name = 'AbortError';
  }
}

/** True for our {@link AbortError} and for the DOMException Node throws in the same situation. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

export function abortErrorOf(signal: AbortNotice): AbortError {
  return new AbortError(undefined, { cause: signal.reason });
}
