import type { Clock } from '../../base/time/clock.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { defaultControllerRateLimiter } from '../../workqueue/rate-limiters.ts';
import type { QueuedAs } from '../graph/effect.ts';
import type { Uid } from '../types/identity.ts';
import type { WorkKey } from './work-key.ts';
import type { QueueReason } from '../types/reasons.ts';
import { WorkQueue } from './work-queue.ts';

/** Names as in kube-controller-manager, also as metric labels (COL-080, COL-190). */
export const QUEUE_NAMES = {
  graphChanges: 'garbage_collector_graph_changes',
  attemptToDelete: 'garbage_collector_attempt_to_delete',
  attemptToOrphan: 'garbage_collector_attempt_to_orphan',
} as const;

interface QueueOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The longest retry delay of a key that keeps failing, ms (BETTER-8); 1,000,000 in Kubernetes. */
  readonly retryCapMs: number;
  readonly retry?: RetryOptions;
  /** See WorkQueueOptions. */
  readonly hashSeed?: number;
}

/** Receives a uid that is queued, its queue, and the reason. Reads `queued` only on demand, and only during the call. */
export type OnQueued = (queued: QueuedInto, reason: QueueReason) => void;

interface QueuedInto {
  readonly queue: keyof Queues;
  readonly uid: Uid;
  readonly as: QueuedAs;
}

/** How soon a key that failed is tried again (COL-082, COL-201). */
export interface RetryOptions {
  /** The delay after the first failure, ms; 5 unless given. Each further failure doubles it. */
  readonly baseMs?: number;
  /** Retries of a queue per second after a burst of `burst` retries; 10 and 100 unless given. */
  readonly ratePerSecond?: number;
  readonly burst?: number;
}

/**
 * The queues from which the workers take their keys. Each queue holds a key at most once and never gives it to two workers. Its bound is
 * the number of uids in the graph (COL-081). There is no queue of graph changes: see designs/0002.
 */
export interface Queues {
  readonly attemptToDelete: WorkQueue;
  readonly attemptToOrphan: WorkQueue;
}

export function createQueues({ clock, metrics, retryCapMs, retry = {}, hashSeed = 0 }: QueueOptions): Queues {
  const create = (name: string): WorkQueue =>
    new WorkQueue({
      name,
      clock,
      metrics,
      hashSeed,
      rateLimiter: defaultControllerRateLimiter<WorkKey>({ clock, capMs: retryCapMs, ...retry }),
    });
  return { attemptToDelete: create(QUEUE_NAMES.attemptToDelete), attemptToOrphan: create(QUEUE_NAMES.attemptToOrphan) };
}
