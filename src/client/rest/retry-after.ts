/** A longer `Retry-After` is shortened to this: a page of maintenance asks for hours, and is gone long before. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** Milliseconds to wait where a server asked for so many seconds. */
export function retryAfterMs(seconds: number): number {
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000;
}
