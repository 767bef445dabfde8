import type { RuntimeContainer, RuntimeImage } from './runtime.ts';

/** An image with its ages and its users. Times are nanoseconds since the epoch. */
export interface ImageRecord {
  /** The id, or `id,handler` where the runtime reports a handler (NODE-030). */
  readonly key: string;
  readonly image: RuntimeImage;
  readonly firstDetected: bigint;
  /** Undefined when the image was never seen in use. */
  readonly lastUsed: bigint | undefined;
  /** Containers that use the image now, running or dead, and containers that mount it. */
  readonly users: readonly RuntimeContainer[];
}

/** Records by key. */
export interface Inventory {
  readonly size: number;
  get(key: string): ImageRecord | undefined;
  has(key: string): boolean;
  keys(): Iterable<string>;
  values(): Iterable<ImageRecord>;
}

/** Positions without a record that may exist besides as many as there are records. */
const SPARE_POSITIONS = 1024;

/**
 * Records of images by key, which never change. The next generation shares the table of keys, which is the costly part of a map with
 * thousands of entries. Invariant: a key keeps its position in all generations that share a table, and the table only grows. Bound: a
 * generation whose positions are mostly empty gets a table of its own.
 */
export class ImageRecords implements Inventory {
  static readonly empty = new ImageRecords(new Map(), [], 0);
  readonly #positions: Map<string, number>;
  /** Undefined where this generation has no record for the key; shorter than the table if later generations added keys. */
  readonly #records: readonly (ImageRecord | undefined)[];
  readonly size: number;
  #list: readonly ImageRecord[] | undefined;

  private constructor(positions: Map<string, number>, records: readonly (ImageRecord | undefined)[], size: number) {
    this.#positions = positions;
    this.#records = records;
    this.size = size;
  }

  /** Positions of this generation, with a record or without. */
  get positions(): number {
    return this.#records.length;
  }

  /**
   * Returns a generation with one record for each item. If two items have one key, the later counts.
   * @param recordOf makes the record of an item from the key and from the record of this generation
   */
  next<T>(
    items: readonly T[],
    keyOf: (item: T) => string,
    recordOf: (item: T, key: string, known: ImageRecord | undefined) => ImageRecord,
  ): ImageRecords {
    const shared = this !== ImageRecords.empty && this.#positions.size <= 2 * this.size + SPARE_POSITIONS;
    const positions = shared ? this.#positions : new Map<string, number>();
    const placed: (ImageRecord | undefined)[] = [];
    placed.length = positions.size;
    let size = 0;
    for (const item of items) {
      const key = keyOf(item);
      let position = positions.get(key);
      const known = shared ? at(this.#records, position) : this.get(key);
      if (position === undefined) positions.set(key, (position = positions.size));
      if (placed[position] === undefined) size++;
      placed[position] = recordOf(item, key, known);
    }
    return new ImageRecords(positions, placed, size);
  }

  /** Returns a generation with other records for these keys. Keys without a record are left out. */
  updated<T>(changes: ReadonlyMap<string, T>, recordOf: (known: ImageRecord, change: T) => ImageRecord): ImageRecords {
    const placed = [...this.#records];
    for (const [key, change] of changes) {
      const position = this.#positions.get(key);
      const known = at(placed, position);
      if (known !== undefined) placed[position!] = recordOf(known, change);
    }
    return new ImageRecords(this.#positions, placed, this.size);
  }

  /** Returns a generation without this key. */
  without(key: string): ImageRecords {
    if (!this.has(key)) return this;
    return new ImageRecords(this.#positions, this.#records.with(this.#positions.get(key)!, undefined), this.size - 1);
  }

  get(key: string): ImageRecord | undefined {
    return at(this.#records, this.#positions.get(key));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  values(): Iterable<ImageRecord> {
    return this.#listed();
  }

  keys(): Iterable<string> {
    return this.#listed().map(({ key }) => key);
  }

  #listed(): readonly ImageRecord[] {
    return (this.#list ??= this.#records.filter((record) => record !== undefined));
  }
}

const at = (records: readonly (ImageRecord | undefined)[], position: number | undefined): ImageRecord | undefined =>
  position === undefined ? undefined : records[position];
