import type { AfterTurn } from '../../../base/time/after-turn.ts';
import { assert } from '../../../base/errors/assert.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { asError } from '../../../base/errors/thrown.ts';
import { CacheEvent, EventBatch } from './cache-event.ts';
import { CacheReader } from './cache-reader.ts';
import type { Interest, ReaderSource } from './cache-reader.ts';
import type { CacheWatch } from './cache-watch.ts';
import { EventRing } from './event-ring.ts';
import type { EventRingLimits } from './event-ring.ts';
import { RevisionFutureError } from '../interface.ts';
import type { KeyValue, Revision, Store, StoreEvent, StoreWatch } from '../interface.ts';
import { StoreClosedError } from '../store-errors.ts';
import { StoredObject } from '../stored-object.ts';

export interface WatchCacheOptions {
  readonly store: Store;
  /** The prefix of one resource's keys: `resourcePrefix(info)`. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Delivers events to waiting readers after the current turn. */
  readonly afterTurn: AfterTurn;
  /** Maximum number of events for watches that resume, default 10,000 (API-137). */
  readonly capacity?: number;
  /** Maximum bytes of objects for these events, default 64 MiB. Older events are read from the store's history. */
  readonly maxBytes?: number;
  /** Maximum age of events, default 6 minutes (API-137). */
  readonly maxAgeMs?: number;
}

export interface CacheWatchOptions {
  /** The first revision to deliver, one above that of the client. If absent, only new events are delivered. */
  readonly startRevision?: Revision;
  /**
   * `list` delivers one ADDED for each existing object, then `initial-end`, then later events (API-122, API-129); `startRevision` is
   * ignored.
   */
  readonly initial?: 'none' | 'list';
  /** The prefix of the keys to watch, such as those of one namespace; default: the whole resource. */
  readonly prefix?: string;
}

/** A batch that readers at the same position share: every event under the prefix at `from..to-1`. */
interface SharedBatch {
  readonly from: number;
  readonly to: number;
  readonly prefix: string;
  readonly batch: EventBatch;
}

/** Events that waiting readers have not received, and the position of the first. */
interface Untold {
  readonly events: readonly CacheEvent[];
  readonly from: number;
}

/**
 * Number of events whose encodings stay after all readers have received them, because the next events may need them as `previous`. If they
 * were kept longer, they would move to the old generation, tens of MiB of them.
 */
const WARM = 64;

/** Maximum number of undelivered events. Beyond it they are delivered at once, so that a waiting reader never falls out of the ring. */
const MOST_UNTOLD = 500;

/**
 * Maximum bytes of values that a reader may hold of the history of a store in another process, because these are copies for the reader. For
 * an embedded store a reader refers to the store's own history, at almost no cost.
 */
const COPIED_HISTORY_BYTES = 64 << 20;

/** Maximum number of cached batches for readers that follow. */
const SHARED_LIMIT = 8;

/**
 * One store watch for all watches of a resource. Events are converted to {@link CacheEvent}s once, kept in a ring, and read from there by
 * each reader at its own pace; a reader of older events reads the store's history first. Nothing happens before the first {@link watch}. If
 * the store ends the cache's own watch, all readers are closed, and the next `watch` restarts the cache.
 */
export class WatchCache {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #afterTurn: AfterTurn;
  readonly #limits: EventRingLimits;
  readonly #readers = new Set<CacheReader>();
  /** Readers that wait at the end of the ring, by prefix. */
  readonly #parked = new Map<string, Set<CacheReader>>();
  #parkedReaders = 0;
  readonly #source: ReaderSource = {
    ring: () => this.#ring,
    revision: () => (this.#untold.length > 0 ? this.#told : this.#revision),
    batch: (from, to, interest) => this.#batch(from, to, interest),
    eventOf: (event) => this.#eventOf(event),
    park: (reader) => this.#park(reader),
    history: (prefix, options) => this.#store.watch(prefix, options),
    historyBytes: () => (this.#store.writers === 'several servers' ? COPIED_HISTORY_BYTES : Infinity),
    leave: (reader) => {
      this.#readers.delete(reader);
      this.#unpark(reader);
      if (this.#readers.size === 0) this.#onEmpty?.();
    },
  };
  #ring: EventRing;
  #revision: Revision = 0;
  /** Events in the ring that waiting readers have not received; at most {@link MOST_UNTOLD}, for less than a turn. */
  #untold: CacheEvent[] = [];
  /** The revision up to which all waiting readers have events, if some events are undelivered. */
  #told: Revision = 0;
  /** The newest batches, at most {@link SHARED_LIMIT}. */
  #shared: SharedBatch[] = [];
  #started: Promise<void> | undefined;
  #storeWatch: StoreWatch | undefined;
  #state: 'open' | 'finishing' | 'stopped' = 'open';
  #onEmpty: (() => void) | undefined;

  constructor({ store, prefix, clock, afterTurn, capacity, maxBytes, maxAgeMs }: WatchCacheOptions) {
    this.#store = store;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#afterTurn = afterTurn;
    this.#limits = { capacity: capacity ?? 10_000, maxBytes: maxBytes ?? 64 << 20, maxAgeMs: maxAgeMs ?? 360_000 };
    this.#ring = new EventRing(0, this.#limits);
  }

  /**
   * Rejects with RevisionCompactedError when history does not reach back to `startRevision` (API-123), with RevisionFutureError if it does
   * not exist yet (API-124), and with the store's error if the store failed. When the store ends the cache's own watch in the meantime, the
   * new one is `stopped` from the beginning, and its client goes on from the events that it has (apiserver `pkg/storage/cacher/cacher.go`,
   * `newImmediateCloseWatcher`).
   */
  async watch({ startRevision, initial = 'none', prefix = this.#prefix }: CacheWatchOptions = {}): Promise<CacheWatch> {
    const run = this.start();
    await run;
    const reader = new CacheReader(this.#source, prefix);
    if (initial === 'list') {
      const { items, revision } = await this.#store.list(prefix);
      reader.startWithList(items, revision);
    } else {
      const after = startRevision === undefined ? this.#revision : startRevision - 1;
      await this.#assertHappened(after);
      await reader.resume(after);
    }
    // The ring may have ended, or may begin above the reader's revision.
    if (this.#started !== run) reader.end('stopped', undefined);
    if (!reader.closed) this.#readers.add(reader);
    if (this.#state === 'finishing') reader.finish();
    return reader;
  }

  /** Starts the cache's watch on the store, unless it runs. {@link watch} does that by itself. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /**
   * The resource is gone: every watch ends after it has delivered all events so far. The cache is not used again; `onEmpty` is called when
   * no reader is left.
   */
  finish(onEmpty: () => void): void {
    this.#state = 'finishing';
    this.#tell();
    this.#storeWatch?.cancel();
    this.#storeWatch = undefined;
    this.#onEmpty = onEmpty;
    for (const reader of this.#readers) reader.finish();
    if (this.#readers.size === 0) onEmpty();
  }

  /** Ends all watches. The cache cannot be used afterwards. */
  stop(): void {
    this.#state = 'stopped';
    this.#reset(undefined);
  }

  async #start(): Promise<void> {
    if (this.#state === 'stopped') throw new StoreClosedError();
    try {
      const revision = await this.#store.currentRevision();
      this.#ring = new EventRing(revision, this.#limits);
      this.#revision = revision;
      const storeWatch = await this.#store.watch(this.#prefix, {
        startRevision: revision + 1,
        onEvents: (events) => this.#add(events),
        onProgress: (progress) => this.#progress(progress),
        onClose: (error) => this.#reset(error),
      });
      if (this.#started === undefined || this.#state === 'finishing') storeWatch.cancel();
      else this.#storeWatch = storeWatch;
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
  }

  #reset(error: Error | undefined): void {
    this.#started = undefined;
    this.#tell();
    this.#storeWatch?.cancel();
    this.#storeWatch = undefined;
    this.#shared = [];
    this.#ring = new EventRing(0, this.#limits);
    for (const reader of this.#readers) reader.end('stopped', error);
  }

  async #assertHappened(revision: Revision): Promise<void> {
    if (revision <= this.#revision) return;
    // The cache may lag behind a store in another process.
    const current = await this.#store.currentRevision();
    if (revision > current) throw new RevisionFutureError(revision, current);
  }

  #add(events: readonly StoreEvent[]): void {
    const now = this.#clock.monotonic();
    if (this.#parkedReaders === this.#readers.size) {
      this.#ring.cool(WARM);
      this.#ring.coolReread();
    }
    if (this.#untold.length === 0) {
      this.#told = this.#revision;
      this.#afterTurn.add(() => this.#tell());
    }
    for (const event of events) {
      const cached = this.#eventOf(event);
      this.#ring.push(cached, now);
      this.#untold.push(cached);
      this.#revision = Math.max(this.#revision, cached.revision);
      if (this.#untold.length >= MOST_UNTOLD) this.#tell();
    }
    this.#ring.expire(now);
  }

  /** Delivers after the turn: the writer is answered first, and continues while others handle the event. */
  #tell(): void {
    const untold = this.#untold;
    if (untold.length === 0) return;
    this.#untold = [];
    const from = this.#ring.end - untold.length;
    this.#ring.noteReading(from, this.#ring.end);
    try {
      for (const [prefix, readers] of this.#parked) this.#deliver(readers, { events: untold, from }, prefix);
    } catch (error) {
      this.#reset(asError(error));
    }
  }

  /** Readers of a prefix that wait for the same events share a batch and its bytes. */
  #deliver(readers: Set<CacheReader>, { events, from }: Untold, prefix: string): void {
    const theirs = prefix === this.#prefix ? events : events.filter((event) => event.key.startsWith(prefix));
    if (theirs.length === 0) return;
    const batch = new EventBatch(theirs);
    for (const reader of readers) {
      if (reader.deliver(batch, { from, to: this.#ring.end }) === 'goes on') this.#unpark(reader);
    }
  }

  #progress(revision: Revision): void {
    this.#revision = Math.max(this.#revision, revision);
    this.#ring.expire(this.#clock.monotonic());
  }

  #batch(from: number, to: number, { prefix, after }: Interest): EventBatch | undefined {
    const known = this.#shared.find((batch) => batch.from === from && batch.to === to && batch.prefix === prefix);
    if (known !== undefined && (known.batch.events[0]?.revision ?? 0) > after) {
      this.#ring.noteReading(from, to);
      return known.batch;
    }
    const all = this.#ring.slice(from, to).filter((event) => event.key.startsWith(prefix));
    const events = all.filter((event) => event.revision > after);
    if (events.length === 0) return undefined;
    const batch = new EventBatch(events);
    // Not shared: another reader may lack the events that this one read from history while the cache lagged behind.
    if (events.length < all.length) return batch;
    this.#shared = [{ from, to, prefix, batch }, ...this.#shared.slice(0, SHARED_LIMIT - 1)];
    return batch;
  }

  #park(reader: CacheReader): void {
    const readers = this.#parked.get(reader.prefix) ?? new Set();
    if (readers.has(reader)) return;
    this.#parkedReaders++;
    this.#parked.set(reader.prefix, readers.add(reader));
  }

  #unpark(reader: CacheReader): void {
    const readers = this.#parked.get(reader.prefix);
    if (readers?.delete(reader) === true) this.#parkedReaders--;
    if (readers?.size === 0) this.#parked.delete(reader.prefix);
  }

  #eventOf({ revision, current: kv, previous }: StoreEvent): CacheEvent {
    const before = previous === undefined ? undefined : this.#known(previous);
    if (kv !== undefined) {
      const current = new StoredObject(kv);
      if (before === undefined) return new CacheEvent({ type: 'ADDED', current });
      return new CacheEvent({ type: 'MODIFIED', current, previous: before });
    }
    assert(before !== undefined, 'a deletion carries the object that it deleted');
    return new CacheEvent({ type: 'DELETED', revision, previous: before });
  }

  /** The object from the event that wrote it, if it is still cached, so that its encodings are shared. */
  #known(kv: KeyValue): StoredObject {
    const newest = this.#ring.newest(kv.key);
    return newest?.revision === kv.modRevision ? newest : new StoredObject(kv);
  }
}
