/** The time in which this process may act. */
export interface Term {
  /** Once it is aborted nothing more is begun. */
  readonly stopping: AbortSignal;
  /** Aborts the requests under way. */
  readonly calls: AbortSignal;
}

/** Of the time before the first term. */
const never: Term = { stopping: AbortSignal.abort(), calls: AbortSignal.abort() };

/**
 * Between taking a key and working on it: open while this process leads. Workers that come while it is closed wait with their
 * key, so at most as many keys as there are workers are held here; the rest stay in their queue.
 */
export class WorkGate {
  #term: Term = never;
  #state: 'closed' | 'open' | 'ended' = 'closed';
  #inside = 0;
  #opened: (() => void)[] = [];
  #left: (() => void)[] = [];

  /** The present term, or the last one. */
  get term(): Term {
    return this.#term;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Nothing when it has ended. */
  open(term: Term): void {
    if (this.#state === 'ended') return;
    this.#term = term;
    this.#state = 'open';
    this.#letIn();
  }

  /** Resolves when everything that was let in has come out. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed';
    if (this.#inside > 0) await new Promise<void>((resolve) => this.#left.push(resolve));
  }

  /** Closed for ever: whoever waits goes away with nothing done. */
  end(): void {
    this.#state = 'ended';
    this.#letIn();
  }

  /** Runs `work` as soon as the gate is open; undefined when it never will be again. */
  pass<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.#state === 'open' ? this.#letThrough(work) : this.#waitAndPass(work);
  }

  async #waitAndPass<T>(work: () => Promise<T>): Promise<T | undefined> {
    while (this.#state === 'closed') await new Promise<void>((resolve) => this.#opened.push(resolve));
    return this.#state === 'ended' ? undefined : await this.#letThrough(work);
  }

  #letThrough<T>(work: () => Promise<T>): Promise<T> {
    this.#inside++;
    return work().finally(() => {
      this.#inside--;
      if (this.#inside === 0) for (const resolve of this.#left.splice(0)) resolve();
    });
  }

  #letIn(): void {
    for (const resolve of this.#opened.splice(0)) resolve();
  }
}
