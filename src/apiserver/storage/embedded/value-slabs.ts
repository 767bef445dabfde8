import { assert } from '../../../base/errors/assert.ts';

/** The holder of a value. The slabs may move its bytes, but never change them. */
export interface SlabTenant {
  value: Uint8Array | undefined;
  /** Index in the slab's list, maintained by the slabs; -1 if it is in none. */
  slot: number;
}

export interface SlabSizes {
  readonly slab: number;
  /** Larger values get memory of their own. At most a quarter of a slab, so that values moved out of one slab fit into another. */
  readonly largestShared: number;
}

const defaultSizes: SlabSizes = { slab: 256 << 10, largestShared: 16 << 10 };

/**
 * One of this many slabs is ordinary memory, the others are shared. V8 counts only ordinary memory, and after 64 MiB more of it
 * since the last full collection it marks the whole heap again, in steps of 5 to 10 ms on this thread; requests then waited up to a tenth
 * of a second. So unused slabs are freed after at most 256 MiB of new ones, or when V8 collects for its own heap.
 */
const COUNTED_EVERY = 4;

/** The minimum share of a full slab that must still be in use. */
const WANTED = 0.75;

interface Slab {
  readonly bytes: Buffer;
  used: number;
  /** Bytes of its tenants. */
  wanted: number;
  readonly tenants: (SlabTenant | undefined)[];
}

/**
 * Memory for many small values: large blocks, filled one after the other. An allocation for each value would cost 300 bytes more, and leave
 * holes between the values that stay when others are released.
 *
 * A value is copied in, then adopted by its tenant, and released when nobody needs it from its tenant any more. Once a quarter of a full
 * slab is released, the rest of its values move to the newest slab, and the slab is freed. Therefore the slabs hold at most a third more
 * bytes than are wanted, and each released byte moves about three others at most. Bytes that a reader still holds stay where they are: the
 * reader has an ordinary view, and the engine frees the block after the last view is gone.
 *
 * Invariants: each slab but the newest is wanted to `WANTED` at least; `wanted` is the sum of the tenants' values.
 */
export class ValueSlabs {
  readonly #sizes: SlabSizes;
  readonly #slabs = new Map<ArrayBufferLike, Slab>();
  #newest: Slab | undefined;
  /** Number of slabs so far. The first ones are shared, so that a small store, such as that of a test, uses the most frequent path. */
  #allocated = 0;
  /**
   * The value that was copied last, if it is in the newest slab. Most lookups concern it, and it is cheaper to recognize than by its
   * memory.
   */
  #latest: Uint8Array | undefined;

  constructor(sizes: SlabSizes = defaultSizes) {
    assert(sizes.largestShared * 4 <= sizes.slab, 'what is left of a slab fits into another one');
    this.#sizes = sizes;
  }

  /** Bytes of all slabs with values in use. */
  get bytes(): number {
    return this.#slabs.size * this.#sizes.slab;
  }

  /** Copies bytes `start..end-1` of `source`, which may be reused afterwards. The copy must be adopted before the next one, or never. */
  readonly copy = (source: Uint8Array, start = 0, end = source.length): Uint8Array => {
    const length = end - start;
    const part = length === source.length ? source : source.subarray(start, end);
    if (length > this.#sizes.largestShared) {
      const own = Buffer.allocUnsafeSlow(length);
      own.set(part);
      this.#latest = undefined;
      return own;
    }
    let slab = this.#newest;
    if (slab === undefined || slab.used + length > slab.bytes.length) slab = this.#begin();
    const at = slab.used;
    slab.used += length;
    slab.bytes.set(part, at);
    return (this.#latest = slab.bytes.subarray(at, slab.used));
  };

  /** Ignores values outside of the slabs. */
  adopt(tenant: SlabTenant): void {
    const { value } = tenant;
    const slab = value && this.#slabOf(value);
    if (slab === undefined) return;
    tenant.slot = slab.tenants.push(tenant) - 1;
    slab.wanted += value?.length ?? 0;
  }

  /** Releases the tenant's value, once. Returns how many other values were moved. */
  release(tenant: SlabTenant): number {
    const { value, slot } = tenant;
    const slab = value && this.#slabOf(value);
    if (slab === undefined || slab.tenants[slot] !== tenant) return 0;
    slab.tenants[slot] = undefined;
    tenant.slot = -1;
    slab.wanted -= value?.length ?? 0;
    return slab === this.#newest ? 0 : this.#tidy(slab);
  }

  #slabOf(value: Uint8Array): Slab | undefined {
    if (value === this.#latest) return this.#newest;
    const { buffer } = value;
    return this.#newest?.bytes.buffer === buffer ? this.#newest : this.#slabs.get(buffer);
  }

  #begin(): Slab {
    const full = this.#newest;
    const bytes = this.#allocate();
    const slab = { bytes, used: 0, wanted: 0, tenants: [] };
    this.#slabs.set(bytes.buffer, slab);
    this.#newest = slab;
    if (full !== undefined) this.#tidy(full);
    return this.#newest;
  }

  #allocate(): Buffer {
    const counted = ++this.#allocated % COUNTED_EVERY === 0;
    return counted ? Buffer.allocUnsafeSlow(this.#sizes.slab) : Buffer.from(new SharedArrayBuffer(this.#sizes.slab));
  }

  /** Moves the remaining values of a full slab if they are few. */
  #tidy(slab: Slab): number {
    if (slab.wanted >= slab.bytes.length * WANTED) return 0;
    this.#slabs.delete(slab.bytes.buffer);
    let moved = 0;
    for (const tenant of slab.tenants) {
      if (tenant?.value === undefined) continue;
      tenant.value = this.copy(tenant.value);
      this.adopt(tenant);
      moved++;
    }
    return moved;
  }
}
