import type { Clock, Timer } from '../../src/base/time/clock.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';

/** The machine's clock is set while time goes on. */
export class SetClock implements Clock {
  readonly fake = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
  #offset = 0;

  now(): number {
    return this.fake.now() + this.#offset;
  }

  monotonic(): number {
    return this.fake.monotonic();
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    return this.fake.setTimer(delayMs, fn);
  }

  defer(fn: () => void): void {
    this.fake.defer(fn);
  }

  jump(ms: number): void {
    this.#offset += ms;
  }
}
