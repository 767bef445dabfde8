import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import { NumberTable } from './number-table.ts';

/** The parts of an object's marks. It was removed. */
export const REMOVED = 1;
/** It is proven absent, with the identity that it has in the snapshot. */
export const ABSENT = 2;
/** It waits in the queue of deletions, or of orphans; the next higher bit of each says that it was queued as virtual. */
export const IN_DELETES = 4;
export const IN_ORPHANS = 16;
/** From this bit on: one more than the row of its trail. */
export const ROW_SHIFT = 6;

/**
 * A number for each uid of a simulation: its node in the graph of the snapshot, which does not change, or a number above all nodes. Tables
 * by number take a few bytes for each object where those by uid take a hundred.
 */
export class ObjectNumbers {
  readonly #graph: OwnershipGraph;
  readonly #nodes: number;
  /** One table for all parts, because each has something to say about most objects. */
  readonly marks: NumberTable;
  /** The number of objects to make room for at once. */
  readonly expected: number;
  /** uids without a node in the snapshot. */
  readonly #others = new Map<string, number>();
  readonly #otherUids: string[] = [];
  /** The last two answers, because questions about an object and its owner follow each other. */
  #uid: string | undefined;
  #number = 0;
  #uidBefore: string | undefined;
  #numberBefore = 0;

  /** @param isLarge makes room for all nodes at once; memory of the simulation that is made later is returned as one piece */
  constructor(graph: OwnershipGraph, { isLarge }: { readonly isLarge: boolean }) {
    this.#graph = graph;
    this.#nodes = graph.capacity;
    this.expected = isLarge ? this.#nodes : 0;
    this.marks = new NumberTable(this.#nodes, { isLarge });
  }

  /** Numbers below this one belong to nodes. */
  get nodes(): number {
    return this.#nodes;
  }

  of(uid: string): number {
    if (uid === this.#uid) return this.#number;
    if (uid === this.#uidBefore) return this.#numberBefore;
    return this.#remember(uid, this.#numberOf(uid));
  }

  uidOf(number: number): string {
    if (number === this.#number && this.#uid !== undefined) return this.#uid;
    if (number === this.#numberBefore && this.#uidBefore !== undefined) return this.#uidBefore;
    const uid = number < this.#nodes ? this.#graph.uidAt(number) : this.#otherUids[number - this.#nodes]!;
    this.#remember(uid, number);
    return uid;
  }

  #remember(uid: string, number: number): number {
    this.#uidBefore = this.#uid;
    this.#numberBefore = this.#number;
    this.#uid = uid;
    this.#number = number;
    return number;
  }

  #numberOf(uid: string): number {
    const node = this.#graph.find(uid);
    if (node >= 0) return node;
    let number = this.#others.get(uid);
    if (number === undefined) {
      number = this.#nodes + this.#otherUids.length;
      this.#others.set(uid, number);
      this.#otherUids.push(uid);
    }
    return number;
  }
}
