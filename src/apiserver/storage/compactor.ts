import { AbortError } from '../../base/time/abort-error.ts';
import { sleep } from '../../base/time/clock.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Service } from '../../base/service.ts';
import type { Revision, Store } from './interface.ts';

export interface CompactorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default 5 minutes (kube-apiserver's `--etcd-compaction-interval`). */
  readonly intervalMs?: number;
}

/** A key outside of everything that is listed or watched. */
const ROUND_KEY = '/compaction';

/**
 * Compacts history older than one interval, once an interval, so that it reaches back between one and two of them (API-099 requires less
 * than 10 minutes, API-137 at least 5). Follows apiserver `storage/etcd3/compact.go` without its election, because an embedded store has
 * one server. The state at the compacted revision stays readable. Without writes, the compacted revision would stay the newest one, and old
 * lists would stay readable for ever; so a round without writes writes a key of its own.
 */
export class Compactor implements Service {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #intervalMs: number;

  constructor({ store, clock, logger, intervalMs = 300_000 }: CompactorOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  /** Runs until aborted. A failed compaction is retried with the next one. */
  async run(signal: AbortSignal): Promise<void> {
    let previous: Revision = 0;
    while (!signal.aborted) {
      previous = await this.#compact(previous);
      try {
        await sleep(this.#clock, this.#intervalMs, signal);
      } catch (error) {
        if (error instanceof AbortError) return;
        throw error;
      }
    }
  }

  /** Returns the revision for the next compaction. */
  async #compact(to: Revision): Promise<Revision> {
    try {
      const current = await this.#store.currentRevision();
      if (to > 0) await this.#store.compact(to);
      return current === to && to > 0 ? await this.#moveOn() : current;
    } catch (error) {
      this.#logger.warn('history could not be compacted', { revision: to, error: String(error) });
      return to;
    }
  }

  /** The revision of a write without content. */
  async #moveOn(): Promise<Revision> {
    const { kv } = await this.#store.get(ROUND_KEY);
    const value = new Uint8Array(1);
    const written =
      kv === undefined
        ? await this.#store.create(ROUND_KEY, value)
        : await this.#store.update(ROUND_KEY, value, kv.modRevision);
    return written.succeeded ? written.kv.modRevision : written.revision;
  }
}
