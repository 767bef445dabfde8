/**
 * Bytes that leave in one piece. Pieces of 256 KiB come from the system each time and count as much outside the heap, which has V8 collect
 * the more often: a list of 2 MiB took a sixth more CPU.
 */
const CHUNK = 64 * 1024;
const FIRST = 4 * 1024;
/** Bytes that a loop copies sooner than a view of them is made. */
const FEW = 64;

/**
 * Gathers pieces into chunks with one copy each. A body that stays below one chunk takes no more memory than it needs, give or take a
 * factor of four; of a longer one there is never more than a chunk here, plus the piece that is longer than one.
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

  /** The chunks that are full by now. */
  *taken(): Generator<Uint8Array> {
    if (this.#full.length === 0) return;
    const full = this.#full;
    this.#full = [];
    yield* full;
  }

  /** Writes the rest, when nothing more is to come. */
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
