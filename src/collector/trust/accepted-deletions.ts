import type { AcceptedEnd } from '../decide/gather-facts.ts';
import type { Uid } from '../types/identity.ts';

/**
 * Number of newest accepted writes that are always remembered; at most twice as many are. In the fastest cascade these are the writes of
 * the last few tenths of a second. If a forgotten object is queued again, that costs one request. Two halves cost less than an order of all
 * writes, because each delete passes here.
 */
const HALF = 2048;

/**
 * If the watch has not shown a deletion after this time, it may never show it: a server may accept a delete and carry it out later, or
 * never.
 */
const SHOWN_WITHIN_MS = 10_000;

interface TimedEnd extends AcceptedEnd {
  readonly at: number;
}

/**
 * Objects whose deletion the server has accepted: a DELETE, or the removal of the foregroundDeletion finalizer. The same write again would
 * be useless while the graph still has the version that the write rested on: its watch event is on its way (BETTER-9). Without this, small
 * families would cost nearly twice their number of requests, because an owner that waits queues its dependents while these are being
 * deleted.
 *
 * Times are monotonic, ms.
 */
export class AcceptedDeletions {
  #last = new Map<Uid, TimedEnd>();
  #before = new Map<Uid, TimedEnd>();
  #newest = Number.NEGATIVE_INFINITY;

  note(uid: Uid, { resourceVersion, by }: AcceptedEnd, at: number): void {
    if (this.#last.size >= HALF) {
      this.#before = this.#last;
      this.#last = new Map();
    }
    this.#last.set(uid, { resourceVersion, by, at });
    this.#newest = at;
  }

  /** The number of remembered writes, including those that are too old to count but are not removed yet. */
  get size(): number {
    return this.#last.size + this.#before.size;
  }

  /** The write that was accepted, while its watch event may still come. */
  of(uid: Uid, now: number): AcceptedEnd | undefined {
    const end = this.#last.get(uid) ?? this.#before.get(uid);
    return end !== undefined && now - end.at < SHOWN_WITHIN_MS ? end : undefined;
  }

  /** Forgets all writes if none of them counts any more, so that an idle collector keeps no trace of the last cascade. */
  forgetOld(now: number): void {
    if (now - this.#newest >= SHOWN_WITHIN_MS) this.forgetAll();
  }

  /** Forgets all writes. The server may have gone back in time, and then the writes that it accepted have not happened. */
  forgetAll(): void {
    this.#last = new Map();
    this.#before = new Map();
  }
}
