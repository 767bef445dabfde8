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
 * Open while this process leads. Workers wait here before they take a key, so that none is in work while another one leads: a queue
 * would show it as stuck, for as long as that lasts.
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

  /**
   * Resolves as soon as it is open; false when it never will be again. It may be closed by the time the caller goes on, which then asks
   * with {@link tryPass}.
   */
  async opened(): Promise<boolean> {
    while (this.#state === 'closed') await new Promise<void>((resolve) => this.#opened.push(resolve));
    return this.#state === 'open';
  }

  /** Runs `work` as soon as the gate is open; undefined when it never will be again. */
  pass<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.tryPass(work) ?? this.#waitAndPass(work);
  }

  /** Runs `work` if the gate is open at this moment; undefined, and nothing is run, if it is not. */
  tryPass<T>(work: () => Promise<T>): Promise<T> | undefined {
    return this.#state === 'open' ? this.#letThrough(work) : undefined;
  }

  async #waitAndPass<T>(work: () => Promise<T>): Promise<T | undefined> {
    while (await this.opened()) {
      const passed = this.tryPass(work);
      if (passed !== undefined) return await passed;
    }
    return undefined;
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
