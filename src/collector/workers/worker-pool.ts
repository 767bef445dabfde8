import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { TurnBudget } from '../../base/time/turn-budget.ts';
import type { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import type { WorkKey } from '../queues/work-key.ts';
import type { WorkGate } from './work-gate.ts';

/**
 * `forget` resets the key's failures, `requeue` puts it back with back-off (COL-082, COL-083). `leave` does neither: the key is settled for
 * now, but if it is queued with back-off again, it waits longer than the last time.
 */
export type WorkOutcome = 'forget' | 'requeue' | 'leave';

interface WorkerPoolOptions {
  readonly queue: RateLimitingQueue<WorkKey>;
  readonly workers: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: (key: WorkKey) => Promise<WorkOutcome>;
  /** No key is taken while the gate is closed, and none after it has ended (COL-214). */
  readonly gate: Pick<WorkGate, 'isOpen' | 'opened' | 'tryPass'>;
  /** Once it is aborted, no key is taken any more. Keys in work are finished (COL-215). */
  readonly stopping: AbortSignal;
}

/** After a fault of ours, a worker continues after this time (COL-084). */
const RESTART_MS = 1000;

/**
 * Keys that are begun in one turn of the event loop. With everything in memory, thousands would otherwise be decided before the next
 * request is read.
 */
const KEYS_PER_TURN = 32;

/**
 * Takes keys off one queue, at most `workers` at a time, until it is stopped or the queue is shut down and has no ready keys. While the
 * gate is closed the keys stay in the queue. A worker that began to wait for a key before the gate closed puts the key back at once. An
 * exception in `process` is a fault of ours: it is logged, its key is tried again, and no worker ever stops for it (COL-156).
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #turns: TurnBudget;
  #busy = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#turns = new TurnBudget(options.clock, KEYS_PER_TURN);
  }

  /** Keys being processed at this moment. */
  get busy(): number {
    return this.#busy;
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#work()));
  }

  async #work(): Promise<void> {
    const { queue, logger, process, gate, stopping } = this.#options;
    for (;;) {
      if (!gate.isOpen && !(await gate.opened())) return;
      const next = await queue.get();
      if (next.shutdown) return;
      const pause = this.#turns.spend();
      if (pause !== undefined) await pause;
      if (stopping.aborted) return;
      const { item } = next;
      this.#busy++;
      try {
        const outcome = await gate.tryPass(() => process(item));
        // The gate was closed while this worker waited for a key. Nothing was tried, so nothing failed.
        if (outcome === undefined) queue.add(item);
        else if (outcome === 'requeue') queue.addRateLimited(item);
        else if (outcome === 'forget') queue.forget(item);
      } catch (error) {
        logger.error('processing a key failed unexpectedly', { key: item, error });
        queue.addRateLimited(item);
        await sleepUnlessAborted(this.#options.clock, RESTART_MS, stopping);
      } finally {
        this.#busy--;
        queue.done(item);
      }
    }
  }
}
