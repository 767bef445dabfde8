/**
 * Which image holds which pieces of the disk (snapshots and blobs), and what comes back when an image goes: the pieces that no other
 * image holds. Sizes in bytes.
 */
export class SharedBytes {
  readonly #sizes: ReadonlyMap<string, bigint>;
  readonly #pieces: ReadonlyMap<string, readonly string[]>;
  readonly #holders = new Map<string, number>();
  readonly #gone = new Set<string>();

  /**
   * @param pieces by key of the image: ids of all pieces that it holds, each once
   * @param sizes by id of the piece
   */
  constructor(pieces: ReadonlyMap<string, readonly string[]>, sizes: ReadonlyMap<string, bigint>) {
    this.#pieces = pieces;
    this.#sizes = sizes;
    for (const ids of pieces.values()) for (const id of ids) this.#holders.set(id, (this.#holders.get(id) ?? 0) + 1);
  }

  /** True when the pieces of this image are known. */
  knows(key: string): boolean {
    return this.#pieces.has(key);
  }

  /** Bytes that come back when this image goes, after those that went already. */
  own(key: string): bigint {
    return this.#sum(key, (holders) => holders === 1);
  }

  /** Bytes that this image holds together with others that are still there. */
  shared(key: string): bigint {
    return this.#sum(key, (holders) => holders > 1);
  }

  /** Lets the image go. */
  remove(key: string): void {
    if (this.#gone.has(key)) return;
    this.#gone.add(key);
    for (const id of this.#pieces.get(key) ?? []) this.#holders.set(id, (this.#holders.get(id) ?? 0) - 1);
  }

  /** A copy for a plan that is not carried out. */
  clone(): SharedBytes {
    const copy = new SharedBytes(this.#pieces, this.#sizes);
    for (const key of this.#gone) copy.remove(key);
    return copy;
  }

  #sum(key: string, when: (holders: number) => boolean): bigint {
    if (this.#gone.has(key)) return 0n;
    let total = 0n;
    for (const id of this.#pieces.get(key) ?? []) {
      if (when(this.#holders.get(id) ?? 0)) total += this.#sizes.get(id) ?? 0n;
    }
    return total;
  }
}
