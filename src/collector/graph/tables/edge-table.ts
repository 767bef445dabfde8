import { NONE } from './node-table.ts';

/** Bits of a reference's flags: whether the field is present, and whether it is true. */
export const HAS_CONTROLLER = 1;
export const CONTROLLER = 2;
export const HAS_BLOCK = 4;
export const BLOCK = 8;
/** The coordinates differ from those of the owner's node and are stored here. */
export const EXPLICIT = 16;

/** Offsets in a row of eight words. */
export const EDGE_DEPENDENT = 0;
export const EDGE_OWNER = 1;
export const EDGE_NEXT = 2;
export const EDGE_PREV = 3;
/** The dependent's next reference, in the object's order. */
export const EDGE_SIBLING = 4;
/** Only with EXPLICIT: id of apiVersion and kind. */
export const EDGE_KIND = 5;
/** Only with EXPLICIT: address of the name. */
export const EDGE_NAME = 6;
/** The flags, and in the bits from eight on the length of the name. */
export const EDGE_FLAGS = 7;
export const EDGE_LENGTH_SHIFT = 8;

/** Words of a row. */
export const EDGE_ROW = 8;
const INITIAL = 64;

/**
 * References that a node cannot hold itself: those of nodes with several, and those with other coordinates than their owner. 32 bytes each.
 * Grows by half; never shrinks.
 */
export class EdgeTable {
  protected rows: Int32Array;
  #free: number;
  #end: number;

  /** @param from the table whose rows, or a copy of them, this one is given */
  constructor(from?: EdgeTable) {
    this.rows = from?.rows ?? new Int32Array(INITIAL * EDGE_ROW);
    this.#free = from === undefined ? NONE : from.#free;
    this.#end = from === undefined ? 0 : from.#end;
  }

  allocate(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.get(free, EDGE_SIBLING);
      return free;
    }
    if ((this.#end + 1) * EDGE_ROW > this.rows.length) this.grow();
    return this.#end++;
  }

  free(edge: number): void {
    this.set(edge, EDGE_SIBLING, this.#free);
    this.#free = edge;
  }

  get(edge: number, field: number): number {
    return this.rows[edge * EDGE_ROW + field]!;
  }

  set(edge: number, field: number, value: number): void {
    this.rows[edge * EDGE_ROW + field] = value;
  }

  get allocatedBytes(): number {
    return this.rows.byteLength;
  }

  clone(): EdgeTable {
    const copy = new EdgeTable(this);
    copy.rows = this.rows.slice();
    return copy;
  }

  protected grow(): void {
    const grown = new Int32Array(Math.ceil((this.#end * 3) / 2) * EDGE_ROW);
    grown.set(this.rows);
    this.rows = grown;
  }
}
