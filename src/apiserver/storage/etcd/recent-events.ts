import { Ring } from '../../../base/collections/ring.ts';
import type { Revision, StoreEvent } from '../interface.ts';

export interface RecentEventsLimits {
  readonly events: number;
  readonly bytes: number;
}

const defaultRecentEvents: RecentEventsLimits = { events: 4_096, bytes: 16 << 20 };

/** The newest changes, so that a watch that begins shortly before the present needs no history. */
export class RecentEvents {
  readonly #limits: RecentEventsLimits;
  readonly #events: Ring<StoreEvent>;
  #bytes = 0;
  #floor: Revision;
  #revision: Revision;

  /** All changes above `revision` will be added. */
  constructor(revision: Revision, limits: RecentEventsLimits = defaultRecentEvents) {
    this.#limits = limits;
    this.#events = new Ring({ bound: limits.events + 1 });
    this.#floor = revision;
    this.#revision = revision;
  }

  /** All changes above this revision are held. */
  get floor(): Revision {
    return this.#floor;
  }

  /** The newest revision. */
  get revision(): Revision {
    return this.#revision;
  }

  add(events: readonly StoreEvent[], revision: Revision): void {
    for (const event of events) {
      this.#events.pushBack(event);
      this.#bytes += sizeOf(event);
      while (this.#events.length > this.#limits.events || this.#bytes > this.#limits.bytes) this.#drop();
    }
    this.#revision = revision;
  }

  /** Events in order. `after` must not be below the floor. */
  since(after: Revision): StoreEvent[] {
    const events: StoreEvent[] = [];
    for (let i = this.#events.length - 1; i >= 0; i--) {
      const event = this.#events.at(i);
      if (event === undefined || event.revision <= after) break;
      events.push(event);
    }
    return events.toReversed();
  }

  #drop(): void {
    const dropped = this.#events.popFront();
    if (dropped === undefined) return;
    this.#bytes -= sizeOf(dropped);
    // Other events of the same transaction may still be held, but count as gone.
    this.#floor = dropped.revision;
  }
}

function sizeOf({ current, previous }: StoreEvent): number {
  return (current?.value.length ?? 0) + (previous?.value.length ?? 0);
}
