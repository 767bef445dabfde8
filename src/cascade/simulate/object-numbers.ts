import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';

/**
 * A number for each uid of a simulation: its node in the graph of the snapshot, which does not change, or a number above all nodes. Tables
 * by number take a few bytes for each object where those by uid take a hundred.
 */
export class ObjectNumbers {
  readonly #graph: OwnershipGraph;
  readonly #nodes: number;
  /** uids without a node in the snapshot. */
  readonly #others = new Map<string, number>();
  readonly #otherUids: string[] = [];
  /** The last two answers, because questions about an object and its owner follow each other. */
  #uid: string | undefined;
  #number = 0;
  #uidBefore: string | undefined;
  #numberBefore = 0;

  constructor(graph: OwnershipGraph) {
    this.#graph = graph;
    this.#nodes = graph.capacity;
  }

  /** Numbers below this one belong to nodes. */
  get nodes(): number {
    return this.#nodes;
  }

  of(uid: string): number {
    if (uid === this.#uid) return this.#number;
    if (uid === this.#uidBefore) return this.#numberBefore;
    const number = this.#numberOf(uid);
    this.#uidBefore = this.#uid;
    this.#numberBefore = this.#number;
    this.#uid = uid;
    this.#number = number;
    return number;
  }

  uidOf(number: number): string {
    return number < this.#nodes ? this.#graph.uidAt(number) : this.#otherUids[number - this.#nodes]!;
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
