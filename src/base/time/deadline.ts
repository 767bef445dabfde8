import type { AbortListener, AbortNotice } from './abort-notice.ts';
import { TimeoutError } from './abort.ts';
import type { Clock, Timer } from './clock.ts';

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborts the deadline earlier, with its own reason. */
  readonly parent?: AbortNotice | undefined;
}

/**
 * Aborted with {@link TimeoutError} after its time, or earlier with its parent. Dispose it when the work is done: it then stops its timer, stops
 * listening to its parent, and keeps its state.
 */
export class Deadline implements AbortNotice, Disposable {
  #state: 'waiting' | 'disposed' | 'aborted' = 'waiting';
  #reason: unknown;
  #timer: Timer | undefined;
  readonly #parent: AbortNotice | undefined;
  /** One listener for each layer that a request passes. */
  #listeners: AbortListener[] = [];

  constructor({ clock, timeoutMs, parent }: DeadlineOptions) {
    this.#parent = parent;
    if (parent?.aborted === true) {
      this.#abort(parent.reason);
      return;
    }
    parent?.addEventListener('abort', this, { once: true });
    this.#timer = clock.setTimer(timeoutMs, () => this.#abort(new TimeoutError(timeoutMs)));
  }

  get aborted(): boolean {
    return this.#state === 'aborted';
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Treats every listener as `once`, because the deadline is aborted once. */
  addEventListener(_: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: AbortListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** The parent was aborted. */
  handleEvent(): void {
    this.#abort(this.#parent?.reason);
  }

  /** Removes the timeout; an abort of the parent still aborts the deadline. */
  stopTimer(): void {
    this.#timer?.cancel();
  }

  dispose(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'disposed';
    this.#letGo();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #abort(reason: unknown): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'aborted';
    this.#reason = reason;
    this.#letGo();
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }

  #letGo(): void {
    this.#timer?.cancel();
    this.#parent?.removeEventListener('abort', this);
  }
}
