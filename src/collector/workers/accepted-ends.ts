import type { Clock } from '../../base/clock.ts';
import { Lru } from '../../base/lru.ts';
import type { AcceptedEnd } from '../decide/gather-facts.ts';
import type { Uid } from '../graph/identity.ts';

/** Of objects that are looked at once more before their watch has shown their end; for one that is forgotten that costs a request. */
const MOST_ENDS = 10_000;

/** An end that has not been shown for so long may not have come: a server may accept a delete and carry it out later, or never. */
const SHOWN_WITHIN_MS = 10_000;

interface TimedEnd extends AcceptedEnd {
  readonly at: number;
}

/**
 * Objects whose DELETE, or the removal of whose foregroundDeletion finalizer, the server has accepted. As long as the graph still has
 * the version that the write rested on, the news of it is on its way, and the same write again would be for nothing (BETTER-9): small
 * families would cost nearly twice their number, because an owner that waits queues its dependents while these are being deleted.
 */
export class AcceptedEnds {
  readonly #clock: Clock;
  #ends = new Lru<Uid, TimedEnd>({ capacity: MOST_ENDS });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(uid: Uid, { resourceVersion, by }: AcceptedEnd): void {
    this.#ends.set(uid, { resourceVersion, by, at: this.#clock.monotonic() });
  }

  /** What was accepted of the object, while the news of it may still come. */
  of(uid: Uid): AcceptedEnd | undefined {
    const end = this.#ends.get(uid);
    if (end === undefined) return undefined;
    if (this.#clock.monotonic() - end.at < SHOWN_WITHIN_MS) return end;
    this.#ends.delete(uid);
    return undefined;
  }

  /** The server has gone back in time: what it accepted may not have happened any more. */
  forgetAll(): void {
    this.#ends = new Lru({ capacity: MOST_ENDS });
  }
}
