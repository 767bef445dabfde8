import type { Counter, Metrics } from '../base/metrics.ts';
import type { Graph } from './graph/graph.ts';

/** What the collector counts beside its queues (COL-190, BETTER-21). */
export interface CollectorMetrics {
  /** COL-018, COL-022, COL-024. */
  readonly syncErrors: Counter;
  readonly deletions: Counter;
  readonly patches: Counter;
  readonly decisions: Counter;
}

export function collectorMetrics(metrics: Metrics, graph: Graph): CollectorMetrics {
  metrics.gauge({
    name: 'kubegc_collector_graph_nodes',
    help: 'Objects in the ownership graph, by how they are known',
    labelNames: ['state'],
    collect: (gauge) => {
      const { observed, virtual, gone } = graph.counts;
      gauge.set(observed, { state: 'observed' });
      gauge.set(virtual, { state: 'virtual' });
      gauge.set(gone, { state: 'gone' });
    },
  });
  return {
    syncErrors: metrics.counter({
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: 'Number of garbage collector resources sync errors',
    }),
    deletions: metrics.counter({
      name: 'kubegc_collector_deletions_total',
      help: 'Deletions the server accepted, by resource and propagation policy',
      labelNames: ['resource', 'policy'],
    }),
    patches: metrics.counter({
      name: 'kubegc_collector_patches_total',
      help: 'Patches the server accepted, by resource and what they changed',
      labelNames: ['resource', 'change'],
    }),
    decisions: metrics.counter({
      name: 'kubegc_collector_decisions_total',
      help: 'Decisions about queued objects, by verdict and reason',
      labelNames: ['verdict', 'reason'],
    }),
  };
}
