import {
  FIRST,
  FLAGS,
  NEXT,
  NO_VERSION,
  NodeTable,
  NONE,
  PREV,
  REFS,
  rowOf,
  STATE_MASK,
  UID,
  VERSION_HIGH,
  VERSION_LOW,
} from './node-table.ts';
import { WordsBranch } from './words-branch.ts';

/** A node table that reads another one, which must not change, until it writes. Its `rows` are those of the other. */
export class NodeTableBranch extends NodeTable {
  readonly #words: WordsBranch;

  constructor(from: NodeTable, words: WordsBranch = new WordsBranch(from.rows)) {
    super(from);
    this.#words = words;
  }

  override get(node: number, field: number): number {
    return this.#words.get(rowOf(node) | field);
  }

  override set(node: number, field: number, value: number): void {
    this.#words.set(rowOf(node) | field, value);
  }

  override has(node: number, bits: number): boolean {
    return (this.get(node, FLAGS) & bits) !== 0;
  }

  override state(node: number): number {
    return this.get(node, FLAGS) & STATE_MASK;
  }

  override begin(node: number, w0: number, w1: number, w2: number, w3: number, flags: number): void {
    this.set(node, UID, w0);
    this.set(node, UID + 1, w1);
    this.set(node, UID + 2, w2);
    this.set(node, UID + 3, w3);
    this.set(node, FLAGS, flags);
    this.set(node, VERSION_LOW, 0);
    this.set(node, VERSION_HIGH, NO_VERSION);
    this.set(node, REFS, NONE);
    this.set(node, FIRST, NONE);
    this.set(node, NEXT, NONE);
    this.set(node, PREV, NONE);
  }

  override get allocatedBytes(): number {
    return this.#words.allocatedBytes;
  }

  override clone(): NodeTableBranch {
    return new NodeTableBranch(this, this.#words.clone());
  }

  /** Each page is made when it is written. */
  protected override grow(): void {}
}
