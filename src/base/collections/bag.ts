/** The place of one thing in a {@link Bag}. */
export interface Slot<T> {
  readonly item: T;
}

interface Place<T> extends Slot<T> {
  /** Negative once the item was removed. */
  index: number;
}

/**
 * An unordered collection of short-lived items: requests in progress, and waiting callers. It is not a Set, because V8 replaces the table
 * of a Set that is filled and emptied all the time every few changes, and each old table refers to the next. The first table that is
 * promoted to the old generation keeps all later ones alive, with everything they held: a good part of all requests then waits for a full
 * collection, which comes often and stops everything.
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

  /** A second call does nothing. The slot must belong to this bag. */
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
