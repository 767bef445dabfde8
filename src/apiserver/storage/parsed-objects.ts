import type { KubeObject } from '../../api/meta/object-meta.ts';

/**
 * Objects that were parsed a moment ago, by the bytes they were parsed from. Who replaces an object, or deletes one of a kind
 * that more than its metadata decides about, parses it, and the watchers of that change look at the same bytes right afterwards.
 *
 * Holds no more than a commit's worth, and gives each away once, so that it keeps nothing alive for long.
 */
export class ParsedObjects {
  readonly #byBytes = new Map<Uint8Array, KubeObject>();
  readonly #bound: number;

  constructor(bound: number) {
    this.#bound = bound;
  }

  put(bytes: Uint8Array, object: KubeObject): void {
    this.#byBytes.delete(bytes);
    if (this.#byBytes.size >= this.#bound) {
      for (const oldest of this.#byBytes.keys()) {
        this.#byBytes.delete(oldest);
        break;
      }
    }
    this.#byBytes.set(bytes, object);
  }

  /** The object, which is shared and never changed by anyone; it is not found here again. */
  take(bytes: Uint8Array): KubeObject | undefined {
    const object = this.#byBytes.get(bytes);
    if (object !== undefined) this.#byBytes.delete(bytes);
    return object;
  }
}
