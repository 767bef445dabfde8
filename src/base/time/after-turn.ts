import type { Clock } from './clock.ts';

/**
 * Work that no client waits for. It runs when the turn of the event loop is over, or sooner if {@link run} is called. Bound: the work that
 * one turn adds.
 */
export class AfterTurn {
  readonly #clock: Clock;
  #work: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `work` must not throw, because nobody would catch the error. */
  add(work: () => void): void {
    if (this.#work.push(work) === 1) this.#clock.defer(() => this.run());
  }

  /** Runs all work now, in the order in which it was added. Items added meanwhile wait for the end of the next turn. */
  run(): void {
    const all = this.#work;
    if (all.length === 0) return;
    this.#work = [];
    for (const work of all) work();
  }
}
