/** Maximum of a server's `Retry-After`: a maintenance page asks for hours, but ends much earlier. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** The wait in milliseconds for the server's number of seconds. */
export function retryAfterMs(seconds: number): number {
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000;
}
