import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Revision } from '../interface.ts';

/** Maximum wait of a write for the watch. */
const PATIENCE_MS = 500;

interface Waiter {
  readonly revision: Revision;
  readonly since: number;
  readonly resolve: () => void;
}

/**
 * Delays the answer of a write until the server's own watch has delivered it, so that all parts of this server have seen it: definitions
 * are served, roles apply. The wait is short, because writes may continue while the watch is broken. At most one waits for each write in
 * flight.
 */
export class ToldRevisions {
  readonly #clock: Clock;
  #told: Revision = 0;
  #waiters: Waiter[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when everything up to `revision` was delivered, or the wait is over. */
  reached(revision: Revision): Promise<void> {
    if (revision <= this.#told) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ revision, since: this.#clock.monotonic(), resolve });
      this.#timer ??= this.#clock.setTimer(PATIENCE_MS, () => this.#expire());
    });
  }

  /** Delivery restarts above `revision`, which may be far below the last one, because etcd was wiped or restored. */
  restart(revision: Revision): void {
    this.#told = revision;
  }

  advance(revision: Revision): void {
    this.#told = Math.max(this.#told, revision);
    if (this.#waiters.length > 0) this.#release((waiter) => waiter.revision <= revision);
  }

  /** Releases all that wait, because no more events will be delivered. */
  releaseAll(): void {
    this.#release(() => true);
  }

  #expire(): void {
    this.#timer = undefined;
    const long = this.#clock.monotonic() - PATIENCE_MS;
    this.#release((waiter) => waiter.since <= long);
    const [oldest] = this.#waiters;
    if (oldest !== undefined) this.#timer = this.#clock.setTimer(oldest.since - long, () => this.#expire());
  }

  #release(which: (waiter: Waiter) => boolean): void {
    const kept: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (which(waiter)) waiter.resolve();
      else kept.push(waiter);
    }
    this.#waiters = kept;
    if (kept.length > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
