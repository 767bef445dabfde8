import type { EventHash } from './event-hash.ts';
import { NONE } from './node-table.ts';

/**
 * The owner that the object inserted just before was linked to by its only reference. Lists come in the order of names, so
 * that the next object often has the same reference: then neither its owner has to be found nor its coordinates compared.
 *
 * Invariant: `owner` has a slot, and the reference of that hash has its coordinates. Every event that could change either
 * forgets it.
 */
export class Sibling {
  owner = NONE;
  /** Those of the reference, as an edge has them. */
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
