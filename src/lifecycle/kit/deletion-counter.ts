import type { Counter, Metrics } from '../../base/metrics/metrics.ts';

/**
 * Counts every deletion of this room, by controller and reason (LIFE-019). It counts objects, not requests. A caller that counts resources
 * of definitions removes their series when they vanish.
 */
export function deletionCounter(metrics: Metrics): Counter {
  return metrics.counter({
    name: 'kubegc_lifecycle_deletions_total',
    help: 'Objects deleted by lifecycle controllers.',
    labelNames: ['controller', 'resource', 'reason', 'result'],
  });
}
