import type { Clock, Timer } from '../../base/time/clock.ts';

/** Calls back after a time without a sign of life. */
export class Watchdog implements Disposable {
  readonly #clock: Clock;
  readonly #bite: (ms: number) => void;
  #ms: number | undefined;
  #timer: Timer | undefined;
  #deadline = 0;

  constructor(clock: Clock, ms: number | undefined, bite: (ms: number) => void) {
    this.#clock = clock;
    this.#bite = bite;
    this.#ms = ms;
    if (ms !== undefined) this.pet();
  }

  /** The timer keeps running and checks the deadline when it fires, because re-arming it for every chunk would cost more. */
  pet(ms: number | undefined = this.#ms): void {
    if (ms === undefined) return;
    const sooner = this.#ms !== ms;
    this.#ms = ms;
    this.#deadline = this.#clock.monotonic() + ms;
    if (this.#timer !== undefined && !sooner) return;
    this.#timer?.cancel();
    this.#arm(ms);
  }

  stop(): void {
    this.#ms = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Pauses until the returned function is called. */
  pause(): () => void {
    const ms = this.#ms;
    this.stop();
    return () => this.pet(ms);
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #arm(delay: number): void {
    this.#timer = this.#clock.setTimer(delay, () => {
      const left = this.#deadline - this.#clock.monotonic();
      if (left > 0) this.#arm(left);
      else this.#bite(this.#ms ?? 0);
    });
  }
}
