import { StatusError } from '../../api/status-error.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Informer } from '../../client/reflector/informer.ts';
import type { Activity } from './activity.ts';
import { untilQuiet } from './quiet.ts';

/** Real milliseconds in which an informer must sync. */
const WITHIN_MS = 5000;
/** Additional turns of the event loop, for a busy machine. */
const MAX_TURNS = 4000;
const CLOCK_STANDS =
  'nothing is tried again while the clock stands still: ' +
  'begin `cluster.informer(…)`, call `cluster.clock.advance(ms)`, then await it';
/** Permanent refusals: the request itself is wrong. */
const REFUSALS: ReadonlySet<number> = new Set([400, 405, 422]);

export interface FirstSyncOptions {
  /** The resource in messages: `deployments.apps`. */
  readonly resource: string;
  /** True if the cluster has the fake clock. */
  readonly clockStands: boolean;
  readonly activity: Activity;
}

/** An informer retries for ever, but a wait for its first sync does not: this class turns the failure into an error. */
export class FirstSync {
  readonly #options: FirstSyncOptions;
  #last: Error | undefined;
  #giveUp: (error: Error) => void = () => undefined;

  constructor(options: FirstSyncOptions) {
    this.#options = options;
  }

  /** Receives every failure of the informer. */
  readonly onFailure = (error: Error): void => {
    this.#last = error;
    if (error instanceof StatusError && REFUSALS.has(error.code)) this.#giveUp(error);
  };

  /**
   * Resolves when the informer has synced. Rejects at once for a permanent refusal, after five seconds of real time with an Error that
   * names the missing part, and with an AbortError if the signal is aborted. Does not stop the informer.
   */
  async of(informer: Pick<Informer, 'waitForSync'>, signal: AbortSignal): Promise<void> {
    const givenUp = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
    });
    const timer = systemClock.setTimer(WITHIN_MS, () => void this.#timeOver());
    try {
      await Promise.race([informer.waitForSync(signal), givenUp]);
    } finally {
      timer.cancel();
    }
  }

  async #timeOver(): Promise<void> {
    await untilQuiet(this.#options.activity, MAX_TURNS);
    const { resource, clockStands } = this.#options;
    const last = this.#last;
    const why = last === undefined ? 'nothing was answered yet' : `the last failure: ${last.message}`;
    const message = `the informer of ${resource} has not synced within ${WITHIN_MS} ms, ${why}`;
    const options = last === undefined ? undefined : { cause: last };
    this.#giveUp(new Error(clockStands ? `${message}; ${CLOCK_STANDS}` : message, options));
  }
}
