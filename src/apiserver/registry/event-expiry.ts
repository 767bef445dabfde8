import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { StoredObject } from '../storage/stored-object.ts';

/** API-564. */
const TIME_TO_LIVE_MS = 3_600_000;
const SWEEP_EVERY_MS = 60_000;
/** Events read in one go, and deletions under way at once. */
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

/**
 * Removes events that nobody has written to for an hour. The store does not know when a write was, so the newest time that the
 * event itself tells counts. One sweep at a time, the next one a minute after it.
 */
export class EventExpiry {
  readonly #options: EventExpiryOptions;
  #timer: Timer | undefined;
  #state: 'stopped' | 'running' = 'stopped';

  constructor(options: EventExpiryOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#state === 'running') return;
    this.#state = 'running';
    this.#arm();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#timer?.cancel();
  }

  /** Number of events removed. */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    const prefix = resourcePrefix({ group: '', resource: 'events' });
    const oldest = clock.now() - TIME_TO_LIVE_MS;
    let removed = 0;
    let start: string | undefined;
    // Ends: each page begins behind the last one.
    for (;;) {
      const page = await store.list(prefix, { limit: PAGE, ...(start === undefined ? {} : { start }) });
      const results = await Promise.all(
        page.items.filter((kv) => lastWrite(kv) < oldest).map((kv) => this.#remove(kv)),
      );
      removed += results.filter((gone) => gone).length;
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return removed;
      start = `${last.key}\u0000`;
    }
  }

  /** An event written to in the meantime is not expired any more; the guard of its revision keeps it. */
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

/** Epoch ms; the future for an event whose times cannot be read, so that it is kept rather than lost. */
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
