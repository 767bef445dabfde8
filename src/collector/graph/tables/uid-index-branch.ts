import { FLAGS, type NodeTable, STATE_FREE, UID, UID_IS_TEXT } from './node-table.ts';
import type { NodeIndex } from './uid-index.ts';

/**
 * The index of a branch: that of the graph it began with, and the nodes made since. It removes nothing from the other index, which must not
 * change. An entry there counts while the branch's node still has the uid.
 *
 * Bound: one entry for each node made since, in a Map, because a simulation makes few.
 */
export class UidIndexBranch implements NodeIndex {
  readonly #base: NodeIndex;
  readonly #nodes: NodeTable;
  readonly #made: Map<string, number>;

  constructor(base: NodeIndex, nodes: NodeTable, made: ReadonlyMap<string, number> = new Map()) {
    this.#base = base;
    this.#nodes = nodes;
    this.#made = new Map(made);
  }

  get allocatedBytes(): number {
    return 0;
  }

  find(w0: number, w1: number, w2: number, w3: number, text: number): number {
    const node = this.#base.find(w0, w1, w2, w3, text);
    if (node >= 0 && this.#hasStill(node, w0, w1, w2, w3, text)) return node;
    return this.#made.size === 0 ? -1 : (this.#made.get(keyOf(w0, w1, w2, w3, text)) ?? -1);
  }

  guess(w0: number, w1: number, w2: number, w3: number): number {
    return this.#base.guess(w0, w1, w2, w3);
  }

  insert(node: number): void {
    this.#made.set(this.#keyAt(node), node);
  }

  remove(node: number): void {
    if (this.#made.size > 0) this.#made.delete(this.#keyAt(node));
  }

  clone(nodes: NodeTable): UidIndexBranch {
    return new UidIndexBranch(this.#base, nodes, this.#made);
  }

  #hasStill(node: number, w0: number, w1: number, w2: number, w3: number, text: number): boolean {
    const nodes = this.#nodes;
    return (
      nodes.state(node) !== STATE_FREE &&
      nodes.get(node, UID) === w0 &&
      nodes.get(node, UID + 1) === w1 &&
      nodes.get(node, UID + 2) === w2 &&
      nodes.get(node, UID + 3) === w3 &&
      (nodes.get(node, FLAGS) & UID_IS_TEXT) === text
    );
  }

  #keyAt(node: number): string {
    const nodes = this.#nodes;
    const text = nodes.get(node, FLAGS) & UID_IS_TEXT;
    return keyOf(
      nodes.get(node, UID),
      nodes.get(node, UID + 1),
      nodes.get(node, UID + 2),
      nodes.get(node, UID + 3),
      text,
    );
  }
}

function keyOf(w0: number, w1: number, w2: number, w3: number, text: number): string {
  return `${w0} ${w1} ${w2} ${w3} ${text}`;
}
