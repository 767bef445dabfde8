import type { EventHash } from './event-hash.ts';
import { NONE } from './node-table.ts';

/**
 * The owner to which the previously inserted object was linked by its only reference. Lists are ordered by name, so the next object often
 * has the same reference; then its owner need not be found and its coordinates need not be compared. Invariant: `owner` has a slot, and the
 * reference of that hash has its coordinates. Every event that could change either clears it.
 */
export class Sibling {
  owner = NONE;
  /** The flags of the reference, in the form of an edge. */
  flags = 0;
  #low = 0;
  #high = 0;

  hasSameReference({ low, high }: EventHash): boolean {
    return this.owner !== NONE && this.#low === low && this.#high === high;
  }

  remember(owner: number, flags: number, { low, high }: EventHash): void {
    this.owner = owner;
    this.flags = flags;
    this.#low = low;
    this.#high = high;
  }

  forget(): void {
    this.owner = NONE;
  }
}
