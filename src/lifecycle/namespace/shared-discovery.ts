/**
 * Lets concurrent syncs share a discovery without ever using one that began before they asked: content of a kind that
 * the server did not know yet could have come into the namespace in between. So at most one runs and one waits,
 * however many namespaces go at once.
 */
export class SharedDiscovery<T> {
  readonly #discover: () => Promise<T>;
  /** Settles, and never rejects, when the one under way has ended. */
  #running: Promise<void> | undefined;
  #waiting: Promise<T> | undefined;

  constructor(discover: () => Promise<T>) {
    this.#discover = discover;
  }

  /** The result of a discovery that begins after this call; rejects as it does. */
  next(): Promise<T> {
    // Asked first: what waits stays in front of the door for a moment after the one before it has ended.
    if (this.#waiting !== undefined) return this.#waiting;
    if (this.#running === undefined) return this.#begin();
    this.#waiting = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#begin();
    });
    return this.#waiting;
  }

  #begin(): Promise<T> {
    const result = this.#discover();
    const ended = (): void => {
      this.#running = undefined;
    };
    this.#running = result.then(ended, ended);
    return result;
  }
}
