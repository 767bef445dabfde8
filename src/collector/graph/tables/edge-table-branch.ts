import { EDGE_ROW, EdgeTable } from './edge-table.ts';
import { WordsBranch } from './words-branch.ts';

/** A table of references that reads another one, which must not change, until it writes. */
export class EdgeTableBranch extends EdgeTable {
  readonly #words: WordsBranch;

  constructor(from: EdgeTable, words?: WordsBranch) {
    super(from);
    this.#words = words ?? new WordsBranch(this.rows);
  }

  override get(edge: number, field: number): number {
    return this.#words.get(edge * EDGE_ROW + field);
  }

  override set(edge: number, field: number, value: number): void {
    this.#words.set(edge * EDGE_ROW + field, value);
  }

  override get allocatedBytes(): number {
    return this.#words.allocatedBytes;
  }

  override clone(): EdgeTableBranch {
    return new EdgeTableBranch(this, this.#words.clone());
  }

  /** Each page is made when it is written. */
  protected override grow(): void {}
}
