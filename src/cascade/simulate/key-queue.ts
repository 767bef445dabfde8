import type { QueuedAs } from '../../collector/graph/effect.ts';

/** A uid, with a prefix if it was queued before the object was observed (COL-072). */
export type Key = string;

const VIRTUAL_MARK = '?';

export function keyOf(uid: string, as: QueuedAs): Key {
  return as === 'virtual' ? VIRTUAL_MARK + uid : uid;
}

export function parseKey(key: Key): { readonly uid: string; readonly queuedAs: QueuedAs } {
  return key.startsWith(VIRTUAL_MARK) ? { uid: key.slice(1), queuedAs: 'virtual' } : { uid: key, queuedAs: 'observed' };
}

/** Keys in their order of arrival, each at most once. */
export class KeyQueue {
  #keys: Key[] = [];
  #head = 0;
  readonly #waiting = new Set<Key>();

  add(key: Key): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#keys.push(key);
  }

  /** Takes the oldest key; undefined if there is none. */
  take(): Key | undefined {
    if (this.#head === this.#keys.length) {
      this.#keys = [];
      this.#head = 0;
      return undefined;
    }
    const key = this.#keys[this.#head++]!;
    this.#waiting.delete(key);
    return key;
  }
}
