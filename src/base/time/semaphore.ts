import { abortErrorOf } from './abort-error.ts';
import type { AbortNotice } from './abort-notice.ts';
import { assert } from '../errors/assert.ts';
import { Ring } from '../collections/ring.ts';

export interface SemaphoreOptions {
  readonly permits: number;
  /** Maximum number of callers that wait; one more is refused with {@link SemaphoreFullError}. */
  readonly maxWaiting?: number;
}

export class SemaphoreFullError extends Error {
  constructor(maxWaiting: number) {
    super(`more than ${maxWaiting} callers wait`);
    this.name = 'SemaphoreFullError';
  }
}

/** Releases the permit; a second call does nothing. */
export type Release = () => void;

interface Waiter {
  grant: ((release: Release) => void) | undefined;
}

/** Admits a limited number of callers at a time; the others wait in order of arrival. One permit makes a mutex. */
export class Semaphore {
  readonly #waiters: Ring<Waiter>;
  #permits: number;
  #held = 0;
  #waiting = 0;

  constructor({ permits, maxWaiting = 100_000 }: SemaphoreOptions) {
    assert(permits >= 1, 'a semaphore has a permit');
    this.#permits = permits;
    this.#waiters = new Ring({ bound: maxWaiting });
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get permits(): number {
    return this.#permits;
  }

  /** Changes the limit; holders above a smaller one keep their permits until they release them. */
  resize(permits: number): void {
    assert(permits >= 1, 'a semaphore has a permit');
    this.#permits = permits;
    this.#admit();
  }

  tryAcquire(): Release | undefined {
    if (this.#held >= this.#permits || this.#waiting > 0) return undefined;
    return this.#take();
  }

  /** Rejects with an AbortError when `signal` is aborted first. */
  acquire(signal?: AbortNotice): Promise<Release> {
    if (signal?.aborted === true) return Promise.reject(abortErrorOf(signal));
    const now = this.tryAcquire();
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        grant: (release) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(release);
        },
      };
      const onAbort = (): void => {
        // The slot stays in the ring until it comes to the front, where it is skipped.
        waiter.grant = undefined;
        this.#waiting--;
        this.#dropHoles();
        if (signal !== undefined) reject(abortErrorOf(signal));
      };
      if (!this.#waiters.pushBack(waiter)) {
        reject(new SemaphoreFullError(this.#waiters.bound));
        return;
      }
      this.#waiting++;
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Runs `fn` with a permit. */
  async use<T>(fn: () => Promise<T>, signal?: AbortNotice): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await fn();
    } finally {
      release();
    }
  }

  #take(): Release {
    this.#held++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held--;
      this.#admit();
    };
  }

  #admit(): void {
    while (this.#held < this.#permits) {
      this.#dropHoles();
      const waiter = this.#waiters.popFront();
      if (waiter === undefined) return;
      this.#waiting--;
      waiter.grant?.(this.#take());
    }
  }

  #dropHoles(): void {
    while (this.#waiters.at(0) !== undefined && this.#waiters.at(0)?.grant === undefined) this.#waiters.popFront();
    while (this.#waiters.length > 0 && this.#waiters.at(this.#waiters.length - 1)?.grant === undefined)
      this.#waiters.popBack();
  }
}
