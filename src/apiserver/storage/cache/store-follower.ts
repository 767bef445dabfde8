import { type Backoff, exponentialBackoff } from '../../../base/time/backoff.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import { asError } from '../../../base/errors/thrown.ts';
import type { KeyValue, Revision, Store, StoreEvent, StoreWatch } from '../interface.ts';

export interface StoreFollowerOptions {
  readonly store: Store;
  /** The prefix of the followed keys. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with all objects, after the first list and after each one that follows an ended watch. No changes are reported meanwhile. */
  replace(items: readonly KeyValue[]): void | Promise<void>;
  /** Called with changes in order, before the store answers the write. Must not throw. */
  observe(events: readonly StoreEvent[]): void;
}

/** Delay after the store has ended the watch, or a list has failed. It doubles up to the cap; retries never stop. */
const RETRY_MS = 100;
const RETRY_CAP_MS = 10_000;

/**
 * Follows all objects under a prefix and their changes, for as long as the server runs: a list, a watch from its revision on, and the same
 * again whenever the watch fails.
 */
export class StoreFollower {
  readonly #options: StoreFollowerOptions;
  readonly #backoff: Backoff = exponentialBackoff({ baseMs: RETRY_MS, capMs: RETRY_CAP_MS });
  #watch: StoreWatch | undefined;
  #retry: Timer | undefined;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: StoreFollowerOptions) {
    this.#options = options;
  }

  /** Resolves after the first list was reported. Rejects with the store's error, without a retry, if that list fails. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    await this.#follow();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#watch?.cancel();
    this.#retry?.cancel();
  }

  async #follow(): Promise<void> {
    const { store, prefix, replace } = this.#options;
    const { items, revision } = await store.list(prefix);
    if (this.#state === 'stopped') return;
    await replace(items);
    await this.#watchFrom(revision + 1);
  }

  async #watchFrom(startRevision: Revision): Promise<void> {
    const { store, prefix, observe } = this.#options;
    const watch = await store.watch(prefix, {
      startRevision,
      onEvents: observe,
      onClose: (error) => {
        if (error === undefined) return;
        this.#backoff.reset();
        this.#resume(error);
      },
    });
    if (this.#state === 'stopped') watch.cancel();
    else this.#watch = watch;
  }

  #resume(error: Error): void {
    if (this.#state !== 'running') return;
    const { clock, logger, prefix } = this.#options;
    logger.warn('a watch of the store has ended, starting over', { prefix, error: error.message });
    this.#retry = clock.setTimer(this.#backoff.next(), () => {
      this.#follow().catch((again: unknown) => {
        this.#resume(asError(again));
      });
    });
  }
}
