import type { AcceptedEnd } from '../decide/gather-facts.ts';
import type { Uid } from '../types/identity.ts';

/**
 * The last so many are known, and at most as many before them: those of the fastest cascade's last few tenths of a second. One that is
 * forgotten costs a request, if its object is queued once more. Two halves instead of an order of all, because each delete passes here.
 */
const HALF = 2048;

/** A deletion that has not been shown for so long may not come: a server may accept a delete and carry it out later, or never. */
const SHOWN_WITHIN_MS = 10_000;

interface TimedEnd extends AcceptedEnd {
  readonly at: number;
}

/**
 * Objects whose DELETE, or the removal of whose foregroundDeletion finalizer, the server has accepted. As long as the graph still has
 * the version that the write rested on, its watch event is on its way, and the same write again would be for nothing (BETTER-9): small
 * families would cost nearly twice their number, because an owner that waits queues its dependents while these are being deleted.
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

  /** Known ones, and those that have been known too long and were not pushed out yet. */
  get size(): number {
    return this.#last.size + this.#before.size;
  }

  /** The write that was accepted, while its watch event may still come. */
  of(uid: Uid, now: number): AcceptedEnd | undefined {
    const end = this.#last.get(uid) ?? this.#before.get(uid);
    return end !== undefined && now - end.at < SHOWN_WITHIN_MS ? end : undefined;
  }

  /** Forgets all if none of them counts any more: a collector at rest keeps no trace of the last cascade. */
  forgetOld(now: number): void {
    if (now - this.#newest >= SHOWN_WITHIN_MS) this.forgetAll();
  }

  /** The server may have gone back in time: then the writes that it accepted have not happened. */
  forgetAll(): void {
    this.#last = new Map();
    this.#before = new Map();
  }
}
