/**
 * Lets concurrent syncs share a discovery, but never one that began before their request, because objects of a kind that was not served
 * then could have been created since. At most one runs and one waits, for any number of namespaces.
 */
export class SharedDiscovery<T> {
  readonly #discover: (signal: AbortSignal) => Promise<T>;
  /** Settles, and never rejects, when the current one has ended. */
  #running: Promise<void> | undefined;
  #waiting: Promise<T> | undefined;

  constructor(discover: (signal: AbortSignal) => Promise<T>) {
    this.#discover = discover;
  }

  /** The result of a discovery that begins after this call; rejects with its error. All callers share one signal. */
  next(signal: AbortSignal): Promise<T> {
    // A waiting discovery is checked first, because it is still registered for a moment after the previous one ended.
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
