import { type Release, Semaphore } from '../../base/time/semaphore.ts';

/** Maximum number of waiting updates, above that of mutating requests in flight. One more fails instead of waiting. */
const MAX_WAITING = 10_000;

interface Turns {
  readonly semaphore: Semaphore;
  users: number;
}

/**
 * Orders updates of one object that have lost a race. Without it, a hundred competitors would each decide a hundred times, with one winner
 * per round. A loser waits for its turn, and updates that arrive meanwhile queue behind it. An update without a competitor never waits. A
 * turn is not a lock: writes still have preconditions.
 */
export class UpdateTurns {
  /** Only keys with competing updates. */
  readonly #keys = new Map<string, Turns>();

  /** True if other updates have lost a race for this key and are not finished. */
  isContended(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Resolves when it is the caller's turn, which must be released. */
  async take(key: string): Promise<Release> {
    let turns = this.#keys.get(key);
    if (turns === undefined) {
      turns = { semaphore: new Semaphore({ permits: 1, maxWaiting: MAX_WAITING }), users: 0 };
      this.#keys.set(key, turns);
    }
    turns.users++;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      turns.users--;
      if (turns.users === 0) this.#keys.delete(key);
    };
    try {
      const release = await turns.semaphore.acquire();
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
