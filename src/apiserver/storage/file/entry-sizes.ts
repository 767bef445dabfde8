import type { Revision } from '../interface.ts';

const FORGOTTEN = 2 ** 31;

/** The size of each entry in a data file, and whether it is forgotten: 12 bytes of memory for each entry. */
export class EntrySizes {
  #revisions = new Float64Array(1024);
  /** The highest bit is set when the entry is forgotten. */
  #sizes = new Uint32Array(1024);
  #length = 0;
  #liveBytes = 0;
  #forgottenBytes = 0;
  #live = 0;

  /** Number of entries that are not forgotten. */
  get live(): number {
    return this.#live;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get forgottenBytes(): number {
    return this.#forgottenBytes;
  }

  /** Revisions must increase. */
  add(revision: Revision, bytes: number): void {
    if (this.#length === this.#revisions.length) this.#grow();
    this.#revisions[this.#length] = revision;
    this.#sizes[this.#length++] = bytes;
    this.#liveBytes += bytes;
    this.#live++;
  }

  /** Ignores revisions that are unknown or already forgotten. */
  forget(revision: Revision): void {
    const at = this.#find(revision);
    const size = at === undefined ? FORGOTTEN : this.#sizes[at]!;
    if (at === undefined || size >= FORGOTTEN) return;
    this.#sizes[at] = size + FORGOTTEN;
    this.#liveBytes -= size;
    this.#forgottenBytes += size;
    this.#live--;
  }

  isLive(revision: Revision): boolean {
    const at = this.#find(revision);
    return at !== undefined && this.#sizes[at]! < FORGOTTEN;
  }

  /** The file was rewritten without the forgotten entries. */
  dropForgotten(): void {
    let kept = 0;
    for (let i = 0; i < this.#length; i++) {
      if (this.#sizes[i]! >= FORGOTTEN) continue;
      this.#revisions[kept] = this.#revisions[i]!;
      this.#sizes[kept++] = this.#sizes[i]!;
    }
    this.#length = kept;
    this.#forgottenBytes = 0;
  }

  #find(revision: Revision): number | undefined {
    let low = 0;
    let high = this.#length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#revisions[middle]!;
      if (found === revision) return middle;
      if (found < revision) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  #grow(): void {
    const revisions = new Float64Array(this.#length * 2);
    const sizes = new Uint32Array(this.#length * 2);
    revisions.set(this.#revisions);
    sizes.set(this.#sizes);
    this.#revisions = revisions;
    this.#sizes = sizes;
  }
}
