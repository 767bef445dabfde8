import { Ring } from '../../../base/collections/ring.ts';
import type { CacheEvent } from './cache-event.ts';
import type { Revision } from '../interface.ts';
import type { StoredObject } from '../stored-object.ts';

export interface EventRingLimits {
  /** Maximum number of events. */
  readonly capacity: number;
  /** Maximum bytes of objects (estimated) for which events are kept. */
  readonly maxBytes: number;
  /** Maximum age of an event, in ms. */
  readonly maxAgeMs: number;
}

/**
 * Number of newest events whose encodings and parsed objects are cached; watchers further behind compute them again. It exceeds the usual
 * commit, and is small enough to be dropped while young, because the old generation is expensive to collect.
 */
const HOT = 256;

/**
 * Maximum number of older, recently read events whose encodings and parsed objects are cached too. After a broken connection, many watchers
 * resume from different older positions at once and need the same results.
 */
const REREAD = 4_096;
/** The bytes of their objects, estimated. */
const REREAD_BYTES = 16 << 20;

/** Estimated bytes of an event without its objects. */
const EVENT_OVERHEAD = 300;

/**
 * The newest events of a resource. Positions count events since the ring was created: `first` is the oldest kept one, `end` is after the
 * newest. Invariant: it holds every event above the revision `floor`.
 */
export class EventRing {
  readonly #ring: Ring<CacheEvent>;
  /**
   * The arrival time of each event, in whole ms of the monotonic clock, as numbers in an array, because objects beside the events would all
   * move to the old generation.
   */
  readonly #times: Ring<number>;
  readonly #limits: EventRingLimits;
  readonly #newest = new Map<string, StoredObject>();
  #first = 0;
  /** Events from this position on have cached encodings and parsed objects. */
  #hot = 0;
  /** Earlier positions of events that were read again and may have caches, least recently read first; at most {@link REREAD}. */
  readonly #reread = new Set<number>();
  /** Bytes of these events; at most {@link REREAD_BYTES}. */
  #rereadBytes = 0;
  #bytes = 0;
  #floor: Revision;

  constructor(floor: Revision, limits: EventRingLimits) {
    this.#floor = floor;
    this.#limits = limits;
    this.#ring = new Ring({ bound: limits.capacity });
    this.#times = new Ring({ bound: limits.capacity });
  }

  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#first + this.#ring.length;
  }

  get floor(): Revision {
    return this.#floor;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The object of the newest event of a key, unless it was a deletion. It can become the next event's `previous`. */
  newest(key: string): StoredObject | undefined {
    return this.#newest.get(key);
  }

  push(event: CacheEvent, at: number): void {
    if (this.#ring.length === this.#limits.capacity) this.#evict();
    this.#ring.pushBack(event);
    this.#times.pushBack(Math.round(at));
    this.#bytes += bytesOf(event);
    if (event.type === 'DELETED') this.#newest.delete(event.key);
    else this.#newest.set(event.key, event.current);
    this.cool(HOT);
    while (this.#bytes > this.#limits.maxBytes && this.#ring.length > 1) this.#evict();
  }

  /**
   * Releases the encodings of all events except the newest `keep`; they are computed again on demand. Recently read older events keep
   * theirs until {@link coolReread}.
   */
  cool(keep: number): void {
    const to = this.end - keep;
    this.#hot = Math.max(this.#hot, this.#first);
    for (; this.#hot < to; this.#hot++) this.#ring.at(this.#hot - this.#first)?.dropCaches();
  }

  /** No reader is behind any more, so the encodings of older events are released. */
  coolReread(): void {
    for (const position of this.#reread) this.#ring.at(position - this.#first)?.dropCaches();
    this.#reread.clear();
    this.#rereadBytes = 0;
  }

  /** Events at positions `from..to-1` are about to be encoded. */
  noteReading(from: number, to: number): void {
    if (from >= this.#hot) return;
    const end = Math.min(to, this.#hot);
    for (let position = Math.max(from, this.#first); position < end; position++) {
      const event = this.#ring.at(position - this.#first);
      if (event === undefined || this.#reread.has(position)) continue;
      this.#reread.add(position);
      this.#rereadBytes += bytesOf(event);
    }
    for (const position of this.#reread) {
      if (this.#reread.size <= REREAD && this.#rereadBytes <= REREAD_BYTES) return;
      const event = this.#ring.at(position - this.#first);
      event?.dropCaches();
      if (this.#reread.delete(position) && event !== undefined) this.#rereadBytes -= bytesOf(event);
    }
  }

  /** Removes events beyond the maximum age. */
  expire(now: number): void {
    for (;;) {
      const oldest = this.#times.at(0);
      if (oldest === undefined || now - oldest <= this.#limits.maxAgeMs) return;
      this.#evict();
    }
  }

  /** Undefined if the event is no longer kept. */
  revisionAt(position: number): Revision | undefined {
    return this.#ring.at(position - this.#first)?.revision;
  }

  /** Bytes of the event's object; 0 if the event is no longer kept. */
  sizeOf(position: number): number {
    return this.#ring.at(position - this.#first)?.storedBytes ?? 0;
  }

  /** The kept events at positions `from..to-1`, for encoding. */
  slice(from: number, to: number): CacheEvent[] {
    this.noteReading(from, to);
    const events: CacheEvent[] = [];
    for (let i = Math.max(0, from - this.#first); i < to - this.#first; i++) {
      const event = this.#ring.at(i);
      if (event === undefined) break;
      events.push(event);
    }
    return events;
  }

  /** Position of the first event above `revision`, which must not be below `floor`. */
  positionAfter(revision: Revision): number {
    let low = 0;
    let high = this.#ring.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ring.at(middle)?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#first + low;
  }

  #evict(): void {
    const oldest = this.#ring.popFront();
    this.#times.popFront();
    if (oldest === undefined) return;
    if (this.#reread.delete(this.#first)) this.#rereadBytes -= bytesOf(oldest);
    this.#first++;
    this.#bytes -= bytesOf(oldest);
    this.#floor = oldest.revision;
    const { type, key } = oldest;
    if (type !== 'DELETED' && this.#newest.get(key) === oldest.current) this.#newest.delete(key);
  }
}

/** The same at every call: bytes of values may move in memory, but their number never changes. */
function bytesOf({ storedBytes, previous }: CacheEvent): number {
  return EVENT_OVERHEAD + storedBytes + (previous?.storedBytes ?? 0);
}
