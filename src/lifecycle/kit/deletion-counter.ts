import type { Counter, Metrics } from '../../base/metrics/metrics.ts';

/**
 * Every deletion of this room, by the controller that made it and why (LIFE-019). Counts objects, not requests. Whoever counts
 * resources that may vanish has them forgotten.
 */
export function deletionCounter(metrics: Metrics): Counter {
  return metrics.counter({
    name: 'kubegc_lifecycle_deletions_total',
    help: 'Objects deleted by lifecycle controllers.',
    labelNames: ['controller', 'resource', 'reason', 'result'],
  });
}
