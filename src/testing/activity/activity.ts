/**
 * Counts the work in progress inside one cluster. A part that starts work counts it, and a part that waits reads the counts. A watch counts
 * until its answer begins, not while it waits for events.
 */
export class Activity {
  #deferred = 0;
  #requests = 0;
  #changes = 0;
  #conflicts = 0;

  /** Functions that are deferred to a later turn of the event loop. */
  get deferred(): number {
    return this.#deferred;
  }

  /** Requests without an answer so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Writes to the store so far. Two equal numbers mean that nothing was written in between. */
  get changes(): number {
    return this.#changes;
  }

  /** Conflicts of controllers' writes so far. Each write is retried after a short while. */
  get conflicts(): number {
    return this.#conflicts;
  }

  noteConflict(): void {
    this.#conflicts++;
  }

  noteChange(): void {
    this.#changes++;
  }

  defer(fn: () => void, schedule: (fn: () => void) => void): void {
    this.#deferred++;
    schedule(() => {
      this.#deferred--;
      fn();
    });
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#requests++;
    try {
      return await work();
    } finally {
      this.#requests--;
    }
  }
}
