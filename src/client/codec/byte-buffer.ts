/**
 * Bytes of a stream that are not used up yet: `bytes[start..end)`. A chunk that arrives while nothing is left over is
 * borrowed until `keep`, so that only what spans two chunks is copied.
 */
export class ByteBuffer {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  /** Storage for what spans chunks, reused. */
  #own: Uint8Array = new Uint8Array();

  get length(): number {
    return this.end - this.start;
  }

  append(chunk: Uint8Array): void {
    if (this.length === 0) {
      this.bytes = chunk;
      this.start = 0;
      this.end = chunk.length;
      return;
    }
    this.#reserve(chunk.length);
    this.#own.set(chunk, this.end);
    this.end += chunk.length;
  }

  /** To be called when the appended chunk goes back to its owner: what is left of it is copied. */
  keep(): void {
    if (this.length === 0) this.bytes = this.#own;
    else if (this.bytes !== this.#own) this.#reserve(0);
  }

  /** Moves what is left into own storage with room for `more` bytes behind it. */
  #reserve(more: number): void {
    const left = this.length;
    if (this.bytes === this.#own && this.end + more <= this.#own.length) return;
    const needed = left + more;
    const target = needed <= this.#own.length ? this.#own : new Uint8Array(Math.max(needed * 2, 4096));
    // Within one storage this moves the rest to the front; set() copes with the overlap.
    target.set(this.bytes.subarray(this.start, this.end), 0);
    this.#own = target;
    this.bytes = target;
    this.start = 0;
    this.end = left;
  }
}

/** One frame or item may not be larger: etcd refuses objects above 1.5 MiB, this leaves room for other stores. */
export const MAX_OBJECT_BYTES = 64 * 1024 * 1024;
