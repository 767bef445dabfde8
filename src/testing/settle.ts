import { systemClock } from '../base/clock.ts';
import type { GarbageCollector } from '../collector/garbage-collector.ts';
import type { Activity } from './activity.ts';
import type { Faults } from './faults.ts';
import type { QueueActivity } from './queue-activity.ts';
import { untilQuiet } from './quiet.ts';
import type { Recorder } from './recorder.ts';
import { type RunningClock, StandingClock } from './test-clock.ts';
import type { Trace } from './trace.ts';

export interface SettleOptions {
  /** Real milliseconds after which it gives up; 5000 unless given. */
  readonly timeoutMs?: number;
  /** What else must be at rest: the operator under test. Asked again until it says true. */
  readonly idle?: () => boolean;
  /**
   * With the fake clock: lets up to so many milliseconds pass while something waits for time, such as a retry. 0 unless given.
   * What passes by itself after a conflict is not counted in.
   */
  readonly advanceMs?: number;
}

export interface Settled {
  /** With the fake clock: what goes on when time does. Empty when nothing is left to do at all. */
  readonly waiting: readonly string[];
}

/** The cluster does not come to rest. The message ends with what happened last. */
export class NotSettledError extends Error {
  readonly pending: readonly string[];
  /** All of it; private so that a test runner that prints the error's fields does not print this too. */
  readonly #trace: Trace;

  constructor(timeoutMs: number, pending: readonly string[], trace: Trace) {
    super(
      `the cluster did not settle within ${timeoutMs} ms; still pending:\n` +
        `${pending.map((line) => `  - ${line}`).join('\n')}\nwhat happened last:\n${trace.last(LAST_ENTRIES).toString()}`,
    );
    this.name = 'NotSettledError';
    this.pending = pending;
    this.#trace = trace;
  }

  get trace(): Trace {
    return this.#trace;
  }
}

const LAST_ENTRIES = 25;
const DEFAULT_TIMEOUT_MS = 5000;
/**
 * Fake milliseconds that one settling lets pass after a controller met a conflict: enough for the collector's attempts
 * (10, 50 and 250 ms apart) and the first of its queue, too little for a Retry-After, which is whole seconds.
 */
const AFTER_CONFLICT_MS = 500;
/** Turns of the event loop between two looks at the time. */
const TURNS_A_ROUND = 500;

export interface SettlerParts {
  readonly clock: StandingClock | RunningClock;
  readonly activity: Activity;
  readonly queues: QueueActivity;
  readonly faults: Faults;
  readonly recorder: Recorder;
  readonly collector: GarbageCollector | undefined;
}

/** Knows when nothing is left to do. */
export class Settler {
  readonly #parts: SettlerParts;
  /** Conflicts that a settling has given time already: one that comes to nothing does not move the clock again and again. */
  #conflicts = 0;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when nothing can happen any more without time passing or somebody from outside. Rejects with a
   * {@link NotSettledError} after `timeoutMs` of real time.
   */
  async settle(options: SettleOptions = {}): Promise<Settled> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, idle = () => true } = options;
    const { clock, activity, recorder } = this.#parts;
    const deadline = systemClock.monotonic() + timeoutMs;
    const budget = { conflicts: AFTER_CONFLICT_MS, advance: options.advanceMs ?? 0 };
    for (;;) {
      const quiet = await untilQuiet(activity, TURNS_A_ROUND);
      const waiting = this.#waiting();
      const done = clock instanceof StandingClock ? quiet : quiet && waiting.length === 0;
      if (done && idle()) {
        if (waiting.length === 0 || !(await this.#advance(budget))) {
          this.#conflicts = activity.conflicts;
          return { waiting };
        }
      } else if (systemClock.monotonic() >= deadline) {
        const pending = [...this.#underWay(), ...waiting, ...(idle() ? [] : ['idle() says that it is not'])];
        throw new NotSettledError(timeoutMs, pending, recorder.trace());
      } else if (quiet) {
        await new Promise<void>((resolve) => void systemClock.setTimer(1, resolve));
      }
    }
  }

  /** Lets time pass up to the next timer, and takes it off the budget (milliseconds); false when that is too small. */
  async #advance(budget: { conflicts: number; advance: number }): Promise<boolean> {
    const { clock, activity } = this.#parts;
    const next = clock instanceof StandingClock ? clock.nextTimerInMs : undefined;
    if (next === undefined || !(clock instanceof StandingClock)) return false;
    const purse = activity.conflicts > this.#conflicts && next <= budget.conflicts ? 'conflicts' : 'advance';
    if (next > budget[purse]) return false;
    budget[purse] -= next;
    await clock.advanceAsync(next);
    return true;
  }

  #underWay(): string[] {
    const { requests, changes } = this.#parts.activity;
    return [`${requests} requests under way, ${changes} writes so far`];
  }

  #waiting(): string[] {
    const { queues, faults, collector } = this.#parts;
    const busy = [...queues.busy].map(
      ([name, { ready, working }]) => `queue ${name}: ${ready} ready, ${working} in work`,
    );
    return [
      ...busy,
      ...(faults.held > 0 ? [`${faults.held} requests held back by a fault rule`] : []),
      ...(collector && !collector.atRest && busy.length === 0 ? ['the collector will try something again'] : []),
    ];
  }
}
