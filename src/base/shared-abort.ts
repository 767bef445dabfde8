import type { AbortListener, AbortNotice } from './abort-notice.ts';

/**
 * What many short pieces of work listen to, one after the other, for a long time: every request of a collector, say.
 *
 * Not an AbortSignal, because of how Node keeps the listeners of one: a list, whose removed entries go on referring to the entry that
 * came after. The first of them that lives long enough to be moved to the old generation takes many of those that follow with it, and
 * what they stood for: these then wait for a full collection (the same as in `base/bag.ts`).
 */
export class SharedAbort implements AbortNotice {
  #state: 'open' | 'aborted' = 'open';
  #reason: unknown;
  /** In no order. */
  #listeners: AbortListener[] = [];

  get aborted(): boolean {
    return this.#state === 'aborted';
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Without a reason it is the DOMException of an AbortController. A second call does nothing. */
  abort(reason: unknown = AbortSignal.abort().reason): void {
    if (this.#state === 'aborted') return;
    this.#state = 'aborted';
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }

  /** Always as if `once` were said: it is aborted once. */
  addEventListener(_: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener);
  }

  /** Takes a step for each listener. */
  removeEventListener(_: 'abort', listener: AbortListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at < 0) return;
    const last = this.#listeners.pop()!;
    if (last !== listener) this.#listeners[at] = last;
  }
}
