import type { Clock } from './clock.ts';

interface Waiter {
  readonly units: number;
  readonly resume: () => void;
}

/**
 * Bounds the work that is done in one turn of the event loop, so that requests of others are answered between. Work that never waits for
 * I/O runs in one turn, however many promises it awaits. Invariant: a turn begins no more work once `units` are spent; waiting callers go
 * on in the order in which they came.
 */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #units: number;
  readonly #waiting: Waiter[] = [];
  #spent = 0;
  #turnEnds = false;

  constructor(clock: Clock, units: number) {
    this.#clock = clock;
    this.#units = units;
  }

  /** Undefined if the work may begin now; otherwise resolves in the turn in which it may begin. */
  spend(units = 1): Promise<void> | undefined {
    this.#awaitEndOfTurn();
    if (this.#waiting.length === 0 && this.#spent < this.#units) {
      this.#spent += units;
      return undefined;
    }
    return new Promise((resume) => void this.#waiting.push({ units, resume }));
  }

  #awaitEndOfTurn(): void {
    if (this.#turnEnds) return;
    this.#turnEnds = true;
    this.#clock.defer(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#turnEnds = false;
    this.#spent = 0;
    let resumed = 0;
    for (const { units, resume } of this.#waiting) {
      if (this.#spent >= this.#units) break;
      this.#spent += units;
      resumed++;
      resume();
    }
    this.#waiting.splice(0, resumed);
    if (resumed > 0) this.#awaitEndOfTurn();
  }
}
