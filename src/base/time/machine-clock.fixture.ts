import type { Clock, Timer } from './clock.ts';
import type { FakeClock } from './fake-clock.ts';

export interface MachineClockOptions {
  /** How far it is ahead of the others, ms. */
  readonly aheadMs?: number;
  /** How fast it runs: 1.1 is ten percent too fast. */
  readonly rate?: number;
}

/** The clock of one machine: wrong, too fast, or of a process that stands still while time goes on. */
export class MachineClock implements Clock {
  readonly #time: FakeClock;
  readonly #aheadMs: number;
  readonly #rate: number;
  #late: (() => void)[] | undefined;

  constructor(time: FakeClock, { aheadMs = 0, rate = 1 }: MachineClockOptions = {}) {
    this.#time = time;
    this.#aheadMs = aheadMs;
    this.#rate = rate;
  }

  now = (): number => this.#time.now() + this.#aheadMs + this.#time.monotonic() * (this.#rate - 1);
  monotonic = (): number => this.#time.monotonic() * this.#rate;
  defer = (fn: () => void): void => this.#time.defer(fn);

  setTimer(delayMs: number, fn: () => void): Timer {
    let cancelled = false;
    const fire = (): void => {
      if (cancelled) return;
      if (this.#late === undefined) fn();
      else this.#late.push(fire);
    };
    const timer = this.#time.setTimer(delayMs / this.#rate, fire);
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  /** Timers that come due from now on fire when the stall is over. */
  stall(): void {
    this.#late = [];
  }

  resume(): void {
    const late = this.#late ?? [];
    this.#late = undefined;
    for (const fn of late) fn();
  }
}
