/**
 * Lets concurrent syncs share a discovery without ever using one that began before they asked: content of a kind that
 * the server did not know yet could have come into the namespace in between. So at most one runs and one waits,
 * however many namespaces go at once.
 */
export class SharedDiscovery<T> {
  readonly #discover: (signal: AbortSignal) => Promise<T>;
  /** Settles, and never rejects, when the one under way has ended. */
  #running: Promise<void> | undefined;
  #waiting: Promise<T> | undefined;

  constructor(discover: (signal: AbortSignal) => Promise<T>) {
    this.#discover = discover;
  }

  /** The result of a discovery that begins after this call; rejects as it does. All who ask stop by the same signal. */
  next(signal: AbortSignal): Promise<T> {
    // Asked first: what waits stays in front of the door for a moment after the one before it has ended.
    if (this.#waiting !== undefined) return this.#waiting;
    if (this.#running === undefined) return this.#begin(signal);
    this.#waiting = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#begin(signal);
    });
    return this.#waiting;
  }

  #begin(signal: AbortSignal): Promise<T> {
    const result = this.#discover(signal);
    const ended = (): void => {
      this.#running = undefined;
    };
    this.#running = result.then(ended, ended);
    return result;
  }
}
