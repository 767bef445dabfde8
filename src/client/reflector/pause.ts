import { linkSignals } from '../../base/time/abort.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';

/** A wait before the next attempt, which another part may cut short. */
export class Pause {
  readonly #clock: Clock;
  #cut: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True if it can be cut short. */
  get isOpen(): boolean {
    return this.#cut !== undefined;
  }

  /** Resolves after `ms`, or when it is cut short or aborted; if it is cut short, not before `atLeastMs`. */
  async take(ms: number, atLeastMs: number, signal: AbortSignal): Promise<void> {
    if (atLeastMs > 0) await sleepUnlessAborted(this.#clock, atLeastMs, signal);
    if (ms <= atLeastMs) return;
    using short = linkSignals(signal);
    this.#cut = () => short.abort();
    await sleepUnlessAborted(this.#clock, ms - atLeastMs, short.signal);
    this.#cut = undefined;
  }

  cutShort(): void {
    this.#cut?.();
    this.#cut = undefined;
  }
}
