import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import { defaultControllerRateLimiter } from '../workqueue/rate-limiters.ts';
import { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts';
import type { WorkKey } from './graph/work-key.ts';

/** Names as in kube-controller-manager, also as metric labels (COL-080, COL-190). */
export const QUEUE_NAMES = {
  graphChanges: 'garbage_collector_graph_changes',
  attemptToDelete: 'garbage_collector_attempt_to_delete',
  attemptToOrphan: 'garbage_collector_attempt_to_orphan',
} as const;

export interface QueueOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The longest wait of a key that keeps failing, ms (BETTER-8); 1,000,000 is Kubernetes'. */
  readonly retryCapMs: number;
  readonly retry?: RetryOptions;
}

/** How soon a key that failed is tried again (COL-082, COL-201). */
export interface RetryOptions {
  /** After its first failure, doubled by each further one, ms; 5 unless given. */
  readonly baseMs?: number;
  /** Retries of a queue a second after a burst of so many; 10 and 100 unless given. */
  readonly ratePerSecond?: number;
  readonly burst?: number;
}

/**
 * What the workers take their keys from. Each holds a key at most once, never hands it to two workers, and is bounded by
 * the number of uids in the graph (COL-081). There is no queue of graph changes: see designs/0002.
 */
export interface Queues {
  readonly attemptToDelete: RateLimitingQueue<WorkKey>;
  readonly attemptToOrphan: RateLimitingQueue<WorkKey>;
}

export function createQueues({ clock, metrics, retryCapMs, retry = {} }: QueueOptions): Queues {
  const create = (name: string): RateLimitingQueue<WorkKey> =>
    new RateLimitingQueue<WorkKey>({
      name,
      clock,
      metrics,
      rateLimiter: defaultControllerRateLimiter<WorkKey>({ clock, capMs: retryCapMs, ...retry }),
    });
  return { attemptToDelete: create(QUEUE_NAMES.attemptToDelete), attemptToOrphan: create(QUEUE_NAMES.attemptToOrphan) };
}
