/**
 * The size of a chunk. Node allocates chunks of 256 KiB outside the heap each time, which makes V8 collect more often: a list of 2 MiB took
 * a sixth more CPU.
 */
const CHUNK = 64 * 1024;
const FIRST = 4 * 1024;
/** Up to this number of bytes, a loop is faster than a view. */
const FEW = 64;

/**
 * Collects pieces into chunks with one copy each. A body below one chunk takes at most four times its size in memory; of a longer body, it
 * holds at most one chunk and one longer piece.
 */
export class ChunkWriter {
  #chunk: Buffer = Buffer.allocUnsafeSlow(FIRST);
  #used = 0;
  #full: Uint8Array[] = [];

  /** ASCII. */
  text(text: string): void {
    this.#reserve(text.length);
    const chunk = this.#chunk;
    let used = this.#used;
    for (let at = 0; at < text.length; at++) chunk[used++] = text.charCodeAt(at);
    this.#used = used;
  }

  bytes(source: Uint8Array, start = 0, end = source.length): void {
    if (end - start >= CHUNK) {
      this.#flush();
      this.#full.push(source.subarray(start, end));
      return;
    }
    this.#reserve(end - start);
    if (end - start <= FEW) {
      const chunk = this.#chunk;
      let used = this.#used;
      for (let at = start; at < end; at++) chunk[used++] = source[at]!;
      this.#used = used;
      return;
    }
    this.#chunk.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.#used);
    this.#used += end - start;
  }

  /** Removes and returns the full chunks. */
  *taken(): Generator<Uint8Array> {
    if (this.#full.length === 0) return;
    const full = this.#full;
    this.#full = [];
    yield* full;
  }

  /** Returns the remaining bytes, at the end. */
  *rest(): Generator<Uint8Array> {
    yield* this.taken();
    if (this.#used > 0) yield this.#chunk.subarray(0, this.#used);
    this.#used = 0;
  }

  #reserve(length: number): void {
    if (this.#used + length <= this.#chunk.length) return;
    if (this.#used + length > CHUNK) this.#flush();
    else {
      const larger = Buffer.allocUnsafeSlow(Math.min(CHUNK, Math.max(this.#chunk.length * 4, this.#used + length)));
      larger.set(this.#chunk.subarray(0, this.#used));
      this.#chunk = larger;
    }
  }

  #flush(): void {
    if (this.#used > 0) this.#full.push(this.#chunk.subarray(0, this.#used));
    this.#chunk = Buffer.allocUnsafeSlow(CHUNK);
    this.#used = 0;
  }
}
