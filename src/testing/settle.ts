import { inspect, types } from 'node:util';
import { systemClock } from '../base/time/clock.ts';
import type { GarbageCollector } from '../collector/garbage-collector.ts';
import type { Activity } from './activity/activity.ts';
import { checkKeys } from './client/check-options.ts';
import type { Faults } from './faults/faults.ts';
import type { DelayedKeys, QueueActivity } from './activity/queue-activity.ts';
import { untilQuiet } from './activity/quiet.ts';
import type { Recorder } from './trace/recorder.ts';
import { type RunningClock, StandingClock } from './clock/test-clock.ts';
import type { TestTimers } from './clock/test-timers.ts';
import type { Trace } from './trace/trace.ts';

/** The options of `settled()`. */
export interface SettleOptions {
  /** Real milliseconds after which it stops waiting; default 5000. */
  readonly timeoutMs?: number;
  /** Returns true when the operator under test is at rest too. Called again until it returns true, so it cannot be async. */
  readonly idle?: () => boolean;
  /**
   * Lets up to this many milliseconds pass while something waits for time, such as a retry. Finite; 0 unless given.
   * The time that passes by itself after a conflict is not counted. With the real clock, it waits for keys that a controller will process
   * again later and for timers of `cluster.clock`, no longer than `timeoutMs`; failed keys are waited for anyhow.
   */
  readonly advanceMs?: number;
}

/** How a cluster came to rest. */
export interface Settled {
  /**
   * The work that continues when time passes. Empty when nothing is left to do. With the real clock it has only keys that a controller will
   * process again although nothing failed, such as a namespace whose content waits for a finalizer.
   */
  readonly waiting: readonly string[];
}

/** The cluster does not come to rest. The message ends with the last events. */
export class NotSettledError extends Error {
  /** The work that was not done yet, one line for each piece. */
  readonly pending: readonly string[];
  /** All events. Private so that a test runner that prints the error's fields does not print them. */
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

  /** The events until the error. */
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
/** With the real clock: how long it sleeps before it checks again. */
const NAP_MS = 1;
/** Turns of the event loop between two readings of the time. */
const TURNS_A_ROUND = 500;

export interface SettlerParts {
  readonly clock: StandingClock | RunningClock;
  readonly activity: Activity;
  readonly queues: QueueActivity;
  readonly faults: Faults;
  readonly recorder: Recorder;
  readonly collector: GarbageCollector | undefined;
  readonly timers: TestTimers;
}

/** The time that one settling may still take. */
interface Budget {
  /** Real milliseconds, as the test gave them. */
  readonly timeoutMs: number;
  /** `systemClock.monotonic()` milliseconds. */
  deadline: number;
  /** Milliseconds of the cluster's clock that may pass by themselves after a conflict. */
  conflicts: number;
  /** Milliseconds that the test allows to pass. */
  advance: number;
}

/** The work that a cluster at rest continues when time passes. */
interface Left {
  /** True if some of the work must be done; false if it is only checked again. */
  readonly unfinished: boolean;
  readonly waiting: readonly string[];
}

/** Detects when nothing is left to do. */
export class Settler {
  readonly #parts: SettlerParts;
  /** The number of conflicts for which time has already passed. Retries that never succeed must not move the clock again and again. */
  #conflicts = 0;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when nothing can happen any more unless time passes or a client acts. Rejects with a {@link NotSettledError} after `timeoutMs`
   * of real time, with a TypeError for invalid options.
   */
  async settle(options: SettleOptions = {}): Promise<Settled> {
    checkOptions(options);
    const { timeoutMs = DEFAULT_TIMEOUT_MS, idle: asked = () => true, advanceMs = 0 } = options;
    const idle = (): boolean => checkIdle(asked());
    const { clock, activity } = this.#parts;
    const budget: Budget = {
      timeoutMs,
      deadline: systemClock.monotonic() + timeoutMs,
      conflicts: AFTER_CONFLICT_MS,
      advance: clock instanceof StandingClock ? advanceMs : Math.min(advanceMs, timeoutMs),
    };
    for (;;) {
      const quiet = await untilQuiet(activity, TURNS_A_ROUND);
      const { unfinished, looks } = this.#waiting();
      const waiting = [...unfinished, ...looks];
      const done = clock instanceof StandingClock ? quiet : quiet && unfinished.length === 0;
      if (done && idle()) {
        if (waiting.length === 0 || !(await this.#advance(budget, { unfinished: unfinished.length > 0, waiting }))) {
          this.#conflicts = activity.conflicts;
          return { waiting };
        }
      } else if (systemClock.monotonic() >= budget.deadline) {
        throw this.#notSettled(budget, [...waiting, ...(idle() ? [] : ['idle() says that it is not'])]);
      } else if (quiet) {
        await nap();
      }
    }
  }

  /** Lets time pass and subtracts it from the budget; false when the budget is too small for the next timer. */
  #advance(budget: Budget, left: Left): Promise<boolean> {
    const { clock } = this.#parts;
    return clock instanceof StandingClock ? this.#advanceTo(clock, budget, left) : this.#awaitLook(budget);
  }

  /** Advances to the next timer. A periodic check must not use the time that is allowed after a conflict. */
  async #advanceTo(clock: StandingClock, budget: Budget, { unfinished, waiting }: Left): Promise<boolean> {
    const next = clock.nextTimerInMs;
    if (next === undefined) return false;
    const afterConflict = unfinished && this.#parts.activity.conflicts > this.#conflicts && next <= budget.conflicts;
    const purse = afterConflict ? 'conflicts' : 'advance';
    if (next > budget[purse]) return false;
    // Periodic checks may go on for ever, so the deadline counts for them. The time after a conflict is limited in any case.
    if (purse === 'advance' && systemClock.monotonic() >= budget.deadline) throw this.#notSettled(budget, waiting);
    budget[purse] -= next;
    await clock.advanceAsync(next);
    return true;
  }

  /** Waits for a moment of real time. It is not counted as time that the cluster took to come to rest. */
  async #awaitLook(budget: Budget): Promise<boolean> {
    const { queues, timers } = this.#parts;
    const next = Math.min(
      timers.nextInMs ?? Number.POSITIVE_INFINITY,
      ...queues.delayed.map(({ nextInMs }) => nextInMs),
    );
    if (next > budget.advance) return false;
    const before = systemClock.monotonic();
    await nap();
    const passed = systemClock.monotonic() - before;
    budget.advance -= passed;
    budget.deadline += passed;
    return true;
  }

  #notSettled({ timeoutMs }: Budget, pending: readonly string[]): NotSettledError {
    return new NotSettledError(timeoutMs, [...this.#underWay(), ...pending], this.#parts.recorder.trace());
  }

  #underWay(): string[] {
    const { requests, changes } = this.#parts.activity;
    return [`${requests} requests under way, ${changes} writes so far`];
  }

  /** Work that must be done or retried; and work that is only checked again later, which may go on for ever. */
  #waiting(): { readonly unfinished: readonly string[]; readonly looks: readonly string[] } {
    const { queues, faults, collector, timers } = this.#parts;
    const busy = [...queues.busy].map(
      ([name, { ready, working }]) => `queue ${name}: ${ready} ready, ${working} in work`,
    );
    const { delayed } = queues;
    const unfinished = [
      ...busy,
      ...delayed.filter(hasFailed).map(describeDelay),
      ...(faults.held > 0 ? [`${faults.held} requests held back by a fault rule`] : []),
      ...(collector && !collector.atRest && busy.length === 0 ? ['the collector will try something again'] : []),
    ];
    const looks = delayed.filter((delay) => !hasFailed(delay)).map(describeDelay);
    return { unfinished, looks: [...looks, ...describeTimers(timers)] };
  }
}

/** Throws for invalid options: a budget of NaN would never be used up. */
function checkOptions(options: SettleOptions): void {
  checkKeys('settled', options, ['timeoutMs', 'idle', 'advanceMs']);
  const { timeoutMs = DEFAULT_TIMEOUT_MS, idle, advanceMs = 0 } = options;
  if (idle !== undefined && typeof idle !== 'function') {
    throw new TypeError(`idle is a function that answers true or false, not ${inspect(idle)}`);
  }
  if (!isDuration(timeoutMs)) throw new TypeError(`timeoutMs is a number from 0, not ${String(timeoutMs)}`);
  if (!isDuration(advanceMs) || !Number.isFinite(advanceMs)) {
    throw new TypeError(`advanceMs is a finite number from 0, not ${String(advanceMs)}`);
  }
}

/** Throws for a value that is no boolean: a Promise would count as true, and undefined as false for ever. */
function checkIdle(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  const given = types.isPromise(answer) ? 'a Promise' : inspect(answer);
  throw new TypeError(`idle answers true or false, not ${given}: it is asked again until it says true`);
}

function isDuration(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0;
}

function hasFailed({ reason }: DelayedKeys): boolean {
  return reason === 'failed';
}

/** The time is rounded up, so that a test can advance the clock by exactly this time. */
function describeDelay(delay: DelayedKeys): string {
  const { queue, keys, nextInMs } = delay;
  const ms = Math.ceil(nextInMs);
  return `queue ${queue}: ${keys} ${hasFailed(delay) ? `failed, next try in ${ms} ms` : `delayed, next look in ${ms} ms`}`;
}

function describeTimers({ pending, nextInMs }: TestTimers): string[] {
  if (nextInMs === undefined) return [];
  const due = `due in ${Math.ceil(nextInMs)} ms`;
  return [pending === 1 ? `1 timer of cluster.clock, ${due}` : `${pending} timers of cluster.clock, the first ${due}`];
}

function nap(): Promise<void> {
  return new Promise((resolve) => void systemClock.setTimer(NAP_MS, resolve));
}
