import { type Release, Semaphore } from '../../base/time/semaphore.ts';

/** As many as mutating requests may be in flight, and then some; one more fails rather than waits. */
const MAX_WAITING = 10_000;

interface Turns {
  readonly semaphore: Semaphore;
  users: number;
}

/**
 * Order among updates of one object that have lost a race. Without it a hundred competitors would decide anew a hundred times
 * each, every round for one winner; so a loser waits for its turn, and who comes while others wait queues behind them. Updates
 * that meet nobody never wait, and a turn is no lock: writes are still guarded by revisions.
 */
export class UpdateTurns {
  /** Only keys that are fought over right now. */
  readonly #keys = new Map<string, Turns>();

  /** Whether others have lost a race for this key and not finished yet. */
  isContended(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Resolves when it is the caller's turn; must be released. */
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
