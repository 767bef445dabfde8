/** A period in which this process may act. */
interface Term {
  /** Once it is aborted, nothing more is begun. */
  readonly stopping: AbortSignal;
  /** Aborts the requests under way. */
  readonly calls: AbortSignal;
}

/** The term before the first one. */
const never: Term = { stopping: AbortSignal.abort(), calls: AbortSignal.abort() };

/**
 * Open while this process leads. Workers wait here before they take a key. So no key is in work while another process leads; the metrics
 * would show such a key as stuck all that time.
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

  /** Does nothing once the gate has ended. */
  open(term: Term): void {
    if (this.#state === 'ended') return;
    this.#term = term;
    this.#state = 'open';
    this.#letIn();
  }

  /** Resolves when all work that was let in has finished. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed';
    if (this.#inside > 0) await new Promise<void>((resolve) => this.#left.push(resolve));
  }

  /** Closes the gate for ever. All waiting callers are released, and nothing runs. */
  end(): void {
    this.#state = 'ended';
    this.#letIn();
  }

  /**
   * Resolves to true as soon as the gate is open, and to false if it will never be open again. The gate may be closed again when the caller
   * continues, so the caller then uses {@link tryPass}.
   */
  async opened(): Promise<boolean> {
    while (this.#state === 'closed') await new Promise<void>((resolve) => this.#opened.push(resolve));
    return this.#state === 'open';
  }

  /** Runs `work` as soon as the gate is open. Resolves to undefined if it will never be open again. */
  pass<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.tryPass(work) ?? this.#waitAndPass(work);
  }

  /** Runs `work` if the gate is open at this moment. Otherwise returns undefined and runs nothing. */
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
