import { type Clock, systemClock, type Timer } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { Activity } from '../activity/activity.ts';
import { untilQuiet } from '../activity/quiet.ts';
import type { TestTimer, TestTimers } from './test-timers.ts';

/** The time of a cluster, which the test controls. */
export interface TestClock {
  /** Whether a test moves the time, or the machine does. */
  readonly kind: 'fake' | 'real';
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds until the next thing that waits for time (a retry, a timeout, a resync); undefined with the real clock. */
  readonly nextTimerInMs: number | undefined;
  /**
   * Advances the time by this many milliseconds. Due timers run in order, each with all its consequences. Resolves when nothing more can
   * happen at the new time. Rejects with the real clock, which a test cannot move.
   */
  advance(ms: number): Promise<void>;
  /**
   * Calls the function once, after this many milliseconds of this clock: for the timeouts and resyncs of an operator under test. An error
   * that it throws rejects the call that advanced the time. Never called once the cluster has stopped.
   */
  readonly setTimeout: (fn: () => void, ms?: number) => TestTimer;
  /** Cancels a timer; has no effect if it has come due already, or is undefined. */
  readonly clearTimeout: (timer: TestTimer | undefined) => void;
  /**
   * Resolves after this many milliseconds of this clock. Rejects with an AbortError if the signal is aborted first. A sleep that is under
   * way when the cluster stops never settles.
   */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Maximum number of turns of the event loop in one moment of fake time. */
const MAX_TURNS_A_MOMENT = 4000;

/**
 * Time stands still until a test moves it, but the event loop does not: work deferred to the next turn runs by itself, so that a test can simply
 * await a request.
 */
export class StandingClock extends FakeClock {
  readonly #activity: Activity;

  /** Starts at a fixed moment unless one is given, in milliseconds since the epoch. */
  constructor(activity: Activity, startMs?: number) {
    super(startMs);
    this.#activity = activity;
  }

  override defer(fn: () => void): void {
    this.#activity.defer(fn, systemClock.defer);
  }

  /** Waits until all work between two timers is done; the base class calls it too. */
  override async settle(): Promise<void> {
    await untilQuiet(this.#activity, MAX_TURNS_A_MOMENT);
  }
}

/** The system's time; it also tracks deferred work. */
export class RunningClock implements Clock {
  readonly #activity: Activity;

  constructor(activity: Activity) {
    this.#activity = activity;
  }

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    return systemClock.setTimer(delayMs, fn);
  }

  defer(fn: () => void): void {
    this.#activity.defer(fn, systemClock.defer);
  }
}

/** The clock of a cluster, as a test sees it. */
export function testClock(
  clock: StandingClock | RunningClock,
  timers: TestTimers,
  started: () => Promise<void> | undefined,
): TestClock {
  const standing = clock instanceof StandingClock ? clock : undefined;
  return {
    kind: standing ? 'fake' : 'real',
    now: () => clock.now(),
    setTimeout: timers.set,
    clearTimeout: timers.clear,
    sleep: timers.sleep,
    get nextTimerInMs() {
      return standing?.nextTimerInMs;
    },
    async advance(ms) {
      if (!standing) throw new Error("the clock of this cluster is real; start it with clock: 'fake' to move time");
      if (!(ms >= 0) || !Number.isFinite(ms)) throw new RangeError(`time goes forward: cannot advance by ${ms} ms`);
      if (started() !== undefined) await started();
      await standing.advanceAsync(ms);
    },
  };
}
