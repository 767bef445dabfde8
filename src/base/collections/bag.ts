/** The place of one thing in a {@link Bag}. */
export interface Slot<T> {
  readonly item: T;
}

interface Place<T> extends Slot<T> {
  /** Negative once the thing is out. */
  index: number;
}

/**
 * Things that are in it for a short time, in no order: requests under way, and those who wait.
 *
 * Not a Set, because of what V8 does with one that is filled and emptied all the time: it makes a new table every few changes, and
 * each old table refers to the next. The first of them that lives long enough to be moved to the old generation takes all that follow
 * with it, and with them whatever they held at that moment: a good part of all requests then waits for a full collection, which
 * comes often, and stops everything while it lasts.
 */
export class Bag<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T): Slot<T> {
    const place = { item, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** A second call does nothing. The slot must be one of this bag's. */
  remove(slot: Slot<T>): void {
    const place = slot as Place<T>;
    if (place.index < 0) return;
    const last = this.#places.pop();
    if (last !== undefined && last !== place) {
      this.#places[place.index] = last;
      last.index = place.index;
    }
    place.index = -1;
  }

  /** The present items; the caller may add and remove items meanwhile. */
  items(): T[] {
    return this.#places.map(({ item }) => item);
  }
}
