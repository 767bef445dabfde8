import { Ring } from '../../../base/collections/ring.ts';
import type { CacheEvent } from './cache-event.ts';
import type { Revision } from '../interface.ts';
import type { StoredObject } from '../stored-object.ts';

export interface EventRingLimits {
  /** The most events it keeps. */
  readonly capacity: number;
  /** The most bytes of objects (estimated) it keeps events for. */
  readonly maxBytes: number;
  /** How long it keeps an event, in ms. */
  readonly maxAgeMs: number;
}

/**
 * Events whose encodings and parsed objects are kept; watchers further behind make them anew. More than a commit has as a rule, and few
 * enough to be dropped while they are young: what is kept for longer is moved to the old generation, which is expensive to clean.
 */
const HOT = 256;

/**
 * Older events that were read last, whose encodings and parsed objects are kept too: after a broken connection many watchers come from
 * further behind at once, each from another place, and what is made for one of them is what the others need.
 */
const REREAD = 4_096;
/** The bytes of their objects, estimated. */
const REREAD_BYTES = 16 << 20;

/** Bookkeeping of an event beside its objects; an estimate. */
const EVENT_OVERHEAD = 300;

/**
 * The newest events of a resource. Positions are counts of events since the ring was made: `first` is that of the oldest
 * one kept, `end` is behind the newest.
 *
 * Invariant: it holds every event above the revision `floor`.
 */
export class EventRing {
  readonly #ring: Ring<CacheEvent>;
  /** When each of them came, in whole ms of the monotonic clock: small numbers in an array, because objects beside the events would all become old. */
  readonly #times: Ring<number>;
  readonly #limits: EventRingLimits;
  readonly #newest = new Map<string, StoredObject>();
  #first = 0;
  /** Position from which on encodings and parsed objects are kept. */
  #hot = 0;
  /** Positions before that one, of events that were read and may have them again, oldest reading first; at most {@link REREAD}. */
  readonly #reread = new Set<number>();
  /** The number of events there; at most {@link REREAD_BYTES}. */
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

  /** The object of the newest event of a key, unless that removed it: what the next event's `previous` can be. */
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
   * Releases the encodings of all events but the newest `keep`; they are made again on demand. Those of older events stay for the last of them
   * that were read, until {@link coolReread}.
   */
  cool(keep: number): void {
    const to = this.end - keep;
    this.#hot = Math.max(this.#hot, this.#first);
    for (; this.#hot < to; this.#hot++) this.#ring.at(this.#hot - this.#first)?.dropCaches();
  }

  /** No reader is behind any more: releases the encodings of older events. */
  coolReread(): void {
    for (const position of this.#reread) this.#ring.at(position - this.#first)?.dropCaches();
    this.#reread.clear();
    this.#rereadBytes = 0;
  }

  /** Somebody makes something of the events at positions `from..to-1`. */
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

  /** Forgets what is too old. */
  expire(now: number): void {
    for (;;) {
      const oldest = this.#times.at(0);
      if (oldest === undefined || now - oldest <= this.#limits.maxAgeMs) return;
      this.#evict();
    }
  }

  /** Undefined when it is not kept. */
  revisionAt(position: number): Revision | undefined {
    return this.#ring.at(position - this.#first)?.revision;
  }

  /** Bytes of the object that the event at this position is about; 0 when it is not kept. */
  sizeOf(position: number): number {
    return this.#ring.at(position - this.#first)?.storedBytes ?? 0;
  }

  /** Events at positions `from..to-1`, as far as they are kept, to make something of them. */
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

  /** Position of the first event above `revision`, which is not below `floor`. */
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

/** The same whenever it is asked for: bytes of values move, their number stays. */
function bytesOf({ storedBytes, previous }: CacheEvent): number {
  return EVENT_OVERHEAD + storedBytes + (previous?.storedBytes ?? 0);
}
