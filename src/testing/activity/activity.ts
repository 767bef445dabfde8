/**
 * The work under way inside one cluster. A part that starts work counts it; a part that waits reads the counts. A watch counts until its answer
 * begins, not while it waits for events.
 */
export class Activity {
  #deferred = 0;
  #requests = 0;
  #changes = 0;
  #conflicts = 0;

  /** Functions that run in a coming turn of the event loop. */
  get deferred(): number {
    return this.#deferred;
  }

  /** Requests that the API server has not answered yet. */
  get requests(): number {
    return this.#requests;
  }

  /** Writes to the store so far; equal numbers at two moments mean that nothing was written between them. */
  get changes(): number {
    return this.#changes;
  }

  /** Writes of controllers so far that met another's: each is tried again after a short while. */
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
