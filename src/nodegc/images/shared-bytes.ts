/**
 * Records which image holds which pieces of the disk (snapshots and blobs). Removing an image frees the pieces that no other image holds.
 * Sizes in bytes.
 */
export class SharedBytes {
  readonly #sizes: ReadonlyMap<string, bigint>;
  readonly #pieces: ReadonlyMap<string, readonly string[]>;
  /** For each piece: all its holders, removed ones included, and the number of holders that are still present. */
  readonly #holders = new Map<string, { readonly keys: string[]; present: number }>();
  readonly #gone = new Set<string>();

  /**
   * @param pieces ids of all pieces that each image holds, each once, by key of the image
   * @param sizes size of each piece, by its id
   */
  constructor(pieces: ReadonlyMap<string, readonly string[]>, sizes: ReadonlyMap<string, bigint>) {
    this.#pieces = pieces;
    this.#sizes = sizes;
    for (const [key, ids] of pieces) {
      for (const id of ids) {
        const known = this.#holders.get(id);
        if (known === undefined) this.#holders.set(id, { keys: [key], present: 1 });
        else {
          known.keys.push(key);
          known.present++;
        }
      }
    }
  }

  /** True when the pieces of this image are known. */
  knows(key: string): boolean {
    return this.#pieces.has(key);
  }

  /** Bytes that removing this image frees, after the removals before it. */
  own(key: string): bigint {
    return this.#sum(key, (holders) => holders === 1);
  }

  /** Bytes that this image shares with other images that are still present. */
  shared(key: string): bigint {
    return this.#sum(key, (holders) => holders > 1);
  }

  /** Removes the image. Returns the keys of images that now free more: each is the only holder left of some piece. */
  remove(key: string): readonly string[] {
    if (this.#gone.has(key)) return [];
    this.#gone.add(key);
    const changed: string[] = [];
    for (const id of this.#pieces.get(key) ?? []) {
      const holders = this.#holders.get(id)!;
      if (--holders.present !== 1) continue;
      const last = holders.keys.find((each) => !this.#gone.has(each));
      if (last !== undefined) changed.push(last);
    }
    return changed;
  }

  /** Undoes a removal that did not happen. Returns the keys of images that now free less than before. */
  restore(key: string): readonly string[] {
    if (!this.#gone.has(key)) return [];
    const changed: string[] = [];
    for (const id of this.#pieces.get(key) ?? []) {
      const holders = this.#holders.get(id)!;
      if (++holders.present !== 2) continue;
      const other = holders.keys.find((each) => !this.#gone.has(each));
      if (other !== undefined) changed.push(other);
    }
    this.#gone.delete(key);
    return changed;
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
      if (when(this.#holders.get(id)?.present ?? 0)) total += this.#sizes.get(id) ?? 0n;
    }
    return total;
  }
}
