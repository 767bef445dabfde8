import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { KeyValue, Revision, Store } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { StoredObject } from '../storage/stored-object.ts';

/** Lifetime of Events after their last write (API-564). */
export const TIME_TO_LIVE_MS = 3_600_000;
const SWEEP_EVERY_MS = 60_000;
/** Maximum number of Events in one list, and of concurrent deletions. */
const PAGE = 500;

interface Event extends KubeObject {
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { lastObservedTime?: string | null };
}

export interface EventExpiryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A revision of the store, and a time at which it was current. */
interface Mark {
  /** Monotonic ms. */
  readonly at: number;
  readonly revision: Revision;
}

/**
 * Removes Events that were not written for an hour. The store has no times, so each sweep records the current revision: an Event that is
 * unchanged since a sweep an hour ago is an hour old, whatever the clocks of other machines say. For Events from before the first sweep,
 * the newest time in them counts during the first hour. Sweeps never overlap; the next begins a minute after the last.
 */
export class EventExpiry {
  readonly #options: EventExpiryOptions;
  #timer: Timer | undefined;
  #state: 'stopped' | 'running' = 'stopped';
  /** One for each sweep, oldest first. Only the first may be older than an hour. */
  #marks: readonly Mark[] = [];
  /** The revision of the first sweep. */
  #known: Revision | undefined;

  constructor(options: EventExpiryOptions) {
    this.#options = options;
  }

  /** Does nothing if the store removes expired keys by itself. */
  start(): void {
    if (this.#state === 'running' || this.#options.store.expiry !== undefined) return;
    this.#state = 'running';
    this.#arm();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#timer?.cancel();
  }

  /** Number of events removed. */
  async sweep(): Promise<number> {
    const { store } = this.#options;
    const isExpired = await this.#judge();
    const prefix = resourcePrefix({ group: '', resource: 'events' });
    let removed = 0;
    let start: string | undefined;
    // The loop is bounded: each page begins after the last one.
    for (;;) {
      const page = await store.list(prefix, { limit: PAGE, ...(start === undefined ? {} : { start }) });
      const results = await Promise.all(page.items.filter(isExpired).map((kv) => this.#remove(kv)));
      removed += results.filter((gone) => gone).length;
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return removed;
      start = `${last.key}\u0000`;
    }
  }

  /** Records the current revision, and returns the test for an hour without a write. */
  async #judge(): Promise<(kv: KeyValue) => boolean> {
    const { store, clock } = this.#options;
    const at = clock.monotonic();
    const revision = await store.currentRevision();
    const marks = [...this.#marks, { at, revision }];
    while ((marks[1]?.at ?? Infinity) <= at - TIME_TO_LIVE_MS) marks.shift();
    this.#marks = marks;
    const [first] = marks;
    const hourOld = first !== undefined && first.at <= at - TIME_TO_LIVE_MS ? first.revision : 0;
    const known = (this.#known ??= revision);
    const oldest = clock.now() - TIME_TO_LIVE_MS;
    return (kv) => kv.modRevision <= hourOld || (kv.modRevision <= known && lastWrite(kv) < oldest);
  }

  /** An Event that was written meanwhile has not expired; the precondition on its revision keeps it. */
  async #remove({ key, modRevision }: KeyValue): Promise<boolean> {
    return (await this.#options.store.delete(key, modRevision)).succeeded;
  }

  #arm(): void {
    const { clock, logger } = this.#options;
    this.#timer = clock.setTimer(SWEEP_EVERY_MS, () => {
      this.sweep().then(
        () => this.#next(),
        (error: unknown) => {
          if (this.#state === 'running') {
            logger.warn('expired events could not be removed', { error: String(error) });
          }
          this.#next();
        },
      );
    });
  }

  #next(): void {
    if (this.#state === 'running') this.#arm();
  }
}

/** Epoch ms. The future for an Event whose times are malformed, so that it is kept. */
function lastWrite(kv: KeyValue): number {
  const event: Event = new StoredObject(kv).object();
  const times = [
    event.metadata?.creationTimestamp,
    event.lastTimestamp,
    event.eventTime,
    event.series?.lastObservedTime,
  ]
    .map((text) => (typeof text === 'string' ? parseTime(text) : undefined))
    .filter((time) => time !== undefined);
  return times.length === 0 ? Infinity : Math.max(...times);
}
