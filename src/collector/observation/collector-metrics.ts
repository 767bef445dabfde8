import type { Counter, Metrics } from '../../base/metrics/metrics.ts';
import type { Graph } from '../graph/graph.ts';
import type { KindMapper } from '../resources/kind-mapper.ts';
import type { Monitors } from '../monitors/monitors.ts';
import type { AdaptiveConcurrency } from '../operations/adaptive-concurrency.ts';
import type { Queues } from '../queues/queues.ts';
import type { HeldAbsences } from '../trust/held-absences.ts';

/** The counters of the collector, in addition to those of its queues (COL-190, BETTER-21). */
export interface CollectorMetrics {
  /** Errors of a pass of discovery: no resources, a resource that cannot be monitored, or no sync in time (COL-018, COL-022, COL-024). */
  readonly syncErrors: Counter;
  readonly deletions: Counter;
  readonly patches: Counter;
  readonly decisions: Counter;
  /** References removed from dependents that appeared after their owner was orphaned (LIFE-560). */
  readonly lateReferences: Counter;
  readonly queued: Counter;
  readonly barriers: Counter;
  readonly consistencyChecks: Counter;
  readonly consistencyDifferences: Counter;
}

export function collectorMetrics(metrics: Metrics): CollectorMetrics {
  return {
    syncErrors: metrics.counter({
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: '[ALPHA] Number of garbage collector resources sync errors',
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
    lateReferences: metrics.counter({
      name: 'kubegc_orphan_late_references_total',
      help: 'References to orphaned owners that came late and were removed',
    }),
    decisions: metrics.counter({
      name: 'kubegc_collector_decisions_total',
      help: 'Decisions about queued objects, by verdict and reason',
      labelNames: ['verdict', 'reason'],
    }),
    queued: metrics.counter({
      name: 'kubegc_collector_queued_total',
      help: 'Objects queued for processing, by reason; one that waits in the queue already counts again',
      labelNames: ['reason'],
    }),
    barriers: metrics.counter({
      name: 'kubegc_collector_orphan_barriers_total',
      help: 'Looks with fresh lists before an owner that is orphaned goes, by what they came to',
      labelNames: ['outcome'],
    }),
    consistencyChecks: metrics.counter({
      name: 'kubegc_collector_consistency_checks_total',
      help: 'Comparisons of the ownership graph with fresh lists, by outcome',
      labelNames: ['outcome'],
    }),
    consistencyDifferences: metrics.counter({
      name: 'kubegc_collector_consistency_differences_total',
      help: 'Objects of which the ownership graph had lastingly something else than the server, by resource and difference',
      labelNames: ['resource', 'difference'],
    }),
  };
}

/**
 * Forgets the counts of resources that are not served any more. Call it again and again: a request that was under way when its resource
 * vanished counts when it finishes. `served` takes a plural, of any group and version.
 */
export function forgetVanished(metrics: CollectorMetrics, served: (resource: string) => boolean): void {
  const { deletions, patches, consistencyDifferences } = metrics;
  for (const counter of [deletions, patches, consistencyDifferences]) {
    counter.deletePartialMatch({ resource: (plural) => !served(plural) });
  }
}

interface ObservedParts {
  readonly graph: Graph;
  readonly queues: Queues;
  readonly monitors: Monitors;
  readonly kinds: KindMapper;
  readonly calls: AdaptiveConcurrency;
  readonly heldAbsences: HeldAbsences;
}

/** Gauges of the state at a scrape, and of stuck objects (BETTER-21). Each scrape costs one walk over the graph. */
export function collectorGauges(
  metrics: Metrics,
  { graph, queues, monitors, kinds, calls, heldAbsences }: ObservedParts,
): void {
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
  metrics.gauge({
    name: 'kubegc_collector_delayed_keys',
    help: 'Objects that are tried again after a delay, by queue',
    labelNames: ['name'],
    collect: (gauge) => {
      for (const queue of Object.values(queues)) gauge.set(queue.delayed, { name: queue.name });
    },
  });
  metrics.gauge({
    name: 'kubegc_collector_long_delayed_keys',
    help: 'Objects that are tried again after a delay of more than ten seconds, by queue',
    labelNames: ['name'],
    collect: (gauge) => {
      for (const queue of Object.values(queues))
        gauge.set(queue.delayedLongerThan(LONG_DELAY_MS), { name: queue.name });
    },
  });
  metrics.gauge({
    name: 'kubegc_collector_unresolvable_references',
    help: 'References of objects in the graph to kinds that the server does not serve',
    collect: (gauge) => gauge.set(unresolvableReferences(graph, kinds)),
  });
  metrics.gauge({
    name: 'kubegc_collector_call_limit',
    help: 'Calls that may be under way at once; falls while the server is overloaded',
    collect: (gauge) => gauge.set(calls.limit),
  });
  metrics.gauge({
    name: 'kubegc_collector_unknown_kinds',
    help: 'Kinds named by owner references that the server does not serve',
    collect: (gauge) => gauge.set(kinds.unknown),
  });
  metrics.gauge({
    name: 'kubegc_collector_unsynced_monitors',
    help: 'Watched resources whose first list is not complete',
    collect: (gauge) => gauge.set(monitors.unsynced.length),
  });
  metrics.gauge({
    name: 'kubegc_collector_held_absences',
    help: 'Objects that vanished with so many others of their kind that nothing is deleted because of it yet',
    collect: (gauge) => gauge.set(heldAbsences.all.reduce((sum, { missing }) => sum + missing, 0)),
  });
  metrics.gauge({
    name: 'kubegc_collector_failing_monitors',
    help: 'Watched resources whose last list or watch failed',
    collect: (gauge) => gauge.set(monitors.failing),
  });
}

/** A key with a longer delay than this has failed about a dozen times. */
const LONG_DELAY_MS = 10_000;

/** The number of references to kinds that are not served: nothing can be proved about them (COL-112, COL-118, COL-137). O(references). */
function unresolvableReferences(graph: Graph, kinds: KindMapper): number {
  const served = new Map<number, boolean>();
  let found = 0;
  graph.forEachNode((id) => {
    graph.forEachOwner(id, (_owner, _blocking, kind) => {
      const known = served.get(kind) ?? servedKind(graph, kinds, kind);
      served.set(kind, known);
      if (!known) found++;
    });
  });
  return found;
}

function servedKind(graph: Graph, kinds: KindMapper, kind: number): boolean {
  const { apiVersion, kind: name } = graph.kindOf(kind);
  return kinds.knows(apiVersion, name);
}
