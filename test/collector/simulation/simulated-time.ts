import type { FakeClock } from '../../../src/base/time/fake-clock.ts';

/** Turns of the event loop until each one is a real millisecond: something is loaded that is needed for the first time. */
const PATIENT_AFTER_TURNS = 50;
const MAX_TURNS = 20_000;

/** A clock that jumps from one timer to the next, and between two timers waits for everything that needs no time. */
export class SimulatedTime {
  readonly #clock: FakeClock;
  #underWay = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** No time passes while this work goes on. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
    }
  }

  /** Everything that can happen without time passing has happened. */
  async settle(): Promise<void> {
    for (let turns = 0; ; turns++) {
      await this.#clock.settle();
      if (this.#underWay === 0) return;
      if (turns > MAX_TURNS) throw new Error('the server does not answer');
      if (turns > PATIENT_AFTER_TURNS) await realMillisecond();
    }
  }

  /** The outcome of work that goes on only while the clock is attended to, without time passing. */
  async wait<T>(work: Promise<T>): Promise<T> {
    const state = stateOf(work);
    for (let turns = 0; !state.settled; turns++) {
      if (turns > MAX_TURNS) throw new Error('the work waits for something that does not come');
      await this.settle();
      if (turns > PATIENT_AFTER_TURNS) await realMillisecond();
    }
    return work;
  }

  /** The same, but time passes as it needs. */
  async waitLong<T>(work: Promise<T>, withinMs: number): Promise<T> {
    const until = this.#clock.monotonic() + withinMs;
    const state = stateOf(work);
    await this.settle();
    while (!state.settled) {
      const next = this.#clock.nextTimerInMs ?? Number.POSITIVE_INFINITY;
      if (this.#clock.monotonic() + next > until) throw new Error(`the work takes longer than ${withinMs} ms`);
      await this.advance(next);
    }
    return work;
  }

  /** From timer to timer. */
  async advance(ms: number): Promise<void> {
    const until = this.#clock.monotonic() + ms;
    await this.settle();
    for (;;) {
      const next = this.#clock.nextTimerInMs;
      const left = until - this.#clock.monotonic();
      if (next === undefined || next > left) {
        this.#clock.advance(left);
        return;
      }
      this.#clock.advance(next);
      await this.settle();
    }
  }
}

function stateOf(work: Promise<unknown>): { settled: boolean } {
  const state = { settled: false };
  const note = (): void => {
    state.settled = true;
  };
  work.then(note, note);
  return state;
}

function realMillisecond(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}
