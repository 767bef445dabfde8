/**
 * The unprocessed bytes of a stream: `bytes[start..end)`. A chunk that arrives while nothing is left over is used in place until `keep`, so
 * that only data across two chunks is copied.
 */
export class ByteBuffer {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  /** A reused buffer for data across chunks. */
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

  /** Copies the unprocessed bytes. Must be called before the owner of the appended chunk reuses it. */
  keep(): void {
    if (this.length === 0) this.bytes = this.#own;
    else if (this.bytes !== this.#own) this.#reserve(0);
  }

  /** Moves the rest into its own buffer, with space for `more` bytes after it. */
  #reserve(more: number): void {
    const left = this.length;
    if (this.bytes === this.#own && this.end + more <= this.#own.length) return;
    const needed = left + more;
    const target = needed <= this.#own.length ? this.#own : new Uint8Array(Math.max(needed * 2, 4096));
    // Within one buffer this moves the rest to the front; set() handles the overlap.
    target.set(this.bytes.subarray(this.start, this.end), 0);
    this.#own = target;
    this.bytes = target;
    this.start = 0;
    this.end = left;
  }
}

/** Maximum size of one frame or item. etcd refuses objects above 1.5 MiB, and other stores may allow more. */
export const MAX_OBJECT_BYTES = 64 * 1024 * 1024;
