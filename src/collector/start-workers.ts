import { BoundedLog } from '../base/logs/bounded-log.ts';
import type { HeldDeletions } from './breaker/held-deletions.ts';
import type { AbsentOwnerCache } from './caches/absent-owner-cache.ts';
import type { OrphanedOwners } from './caches/orphaned-owners.ts';
import type { DecisionJournal } from './decision-journal.ts';
import { DEFAULTS, type GarbageCollectorOptions } from './garbage-collector-options.ts';
import type { GraphWriter } from './graph-writer.ts';
import type { OwnershipGraph } from './graph/ownership-graph.ts';
import type { Monitors } from './monitors/monitors.ts';
import type { ResourceSync } from './monitors/resource-sync.ts';
import type { CollectorMetrics } from './observation/collector-metrics.ts';
import type { AdaptiveConcurrency } from './operations/adaptive-concurrency.ts';
import type { DeleteOptionsSupport } from './operations/delete-options-support.ts';
import type { PatchSupport } from './operations/patch-support.ts';
import type { Queues } from './queues/queues.ts';
import type { WorkKey } from './queues/work-key.ts';
import type { KindMapper } from './resources/kind-mapper.ts';
import type { HeldLists } from './trust/held-lists.ts';
import type { Outages } from './trust/outages.ts';
import type { Trust } from './trust/trust.ts';
import { versionFor } from './trust/version-for.ts';
import type { CollectorContext } from './workers/collector-context.ts';
import { DeleteWorker } from './workers/delete-worker.ts';
import { IgnoredFinalizers } from './workers/ignored-finalizers.ts';
import { OrphanBarrier } from './workers/orphan-barrier.ts';
import type { OrphanRecords } from './workers/orphan-records.ts';
import { OrphanWorker } from './workers/orphan-worker.ts';
import { ReleaseDependents } from './workers/release-dependents.ts';
import type { WorkGate } from './workers/work-gate.ts';
import { type WorkOutcome, WorkerPool } from './workers/worker-pool.ts';

/** The parts that the workers use. */
export interface WorkerParts {
  readonly options: GarbageCollectorOptions;
  readonly calls: AdaptiveConcurrency;
  readonly graph: OwnershipGraph;
  readonly writer: GraphWriter;
  readonly queues: Queues;
  readonly gate: WorkGate;
  readonly absentOwners: AbsentOwnerCache;
  readonly orphanedOwners: OrphanedOwners;
  readonly orphanRecords: OrphanRecords;
  readonly kinds: KindMapper;
  readonly support: PatchSupport;
  readonly deleteOptions: DeleteOptionsSupport;
  readonly metrics: CollectorMetrics;
  readonly monitors: Monitors;
  readonly resourceSync: ResourceSync;
  readonly lists: HeldLists;
  readonly trust: Trust;
  readonly outages: Outages;
  readonly journal: DecisionJournal;
  readonly breaker: HeldDeletions | undefined;
}

/** Limit for lines about failed writes: `burst` lines without an interval, then one line in `everyMs`. */
const FAILURE_LINES = { burst: 20, everyMs: 5000 } as const;

interface StartedWorkers {
  /** One pool for each queue. */
  readonly pools: readonly WorkerPool[];
  /** Settle when the workers have ended. */
  readonly running: readonly Promise<void>[];
}

/** Starts the workers of both queues. They wait at the gate, and run until `stopping` is aborted. */
export function startWorkers(parts: WorkerParts, stopping: AbortSignal): StartedWorkers {
  const { queues, gate, orphanRecords, resourceSync } = parts;
  const { clock, logger, writes, syncPeriodMs, concurrentGcSyncs = DEFAULTS.concurrentGcSyncs } = parts.options;
  const failures = new BoundedLog({ logger, clock, ...FAILURE_LINES });
  const pool = (queue: Queues[keyof Queues], process: (key: WorkKey) => Promise<WorkOutcome>): WorkerPool =>
    new WorkerPool({ queue, workers: concurrentGcSyncs, clock, logger, process, gate, stopping });
  const context = contextOf(parts, 'attemptToOrphan', failures);
  const orphaning = {
    release: new ReleaseDependents(context),
    records: orphanRecords,
    barrier: orphanBarrier(parts, failures),
  };
  const pools = [
    pool(queues.attemptToDelete, new DeleteWorker(contextOf(parts, 'attemptToDelete', failures)).process),
    pool(queues.attemptToOrphan, new OrphanWorker(context, orphaning).process),
  ];
  const ignored = new IgnoredFinalizers(context, {
    ...orphaning,
    resources: () => resourceSync.ignoredServed,
    periodMs: syncPeriodMs ?? DEFAULTS.syncPeriodMs,
    whenLeading: (work) => gate.pass(work),
  });
  const running = pools.map((each) => each.run());
  return { pools, running: writes === 'withheld' ? running : [...running, ignored.run(stopping)] };
}

function contextOf(parts: WorkerParts, queue: keyof Queues, failures: BoundedLog): CollectorContext {
  const { calls, writer, gate, monitors, resourceSync, lists, trust, outages, journal } = parts;
  const { client, clock, random, logger, onDecision, writes = 'allowed' } = parts.options;
  return {
    client: client.through(calls.intercept),
    through: (interceptor) => client.through(interceptor).through(calls.intercept),
    clock,
    random,
    logger,
    failures,
    graph: parts.graph,
    absentOwners: parts.absentOwners,
    orphanedOwners: parts.orphanedOwners,
    kinds: parts.kinds,
    queues: parts.queues,
    support: parts.support,
    deleteOptions: parts.deleteOptions,
    metrics: parts.metrics,
    breaker: parts.breaker,
    writes,
    apply: writer.apply,
    trust,
    versionFor: (owner, dependent) =>
      versionFor(owner, dependent, {
        newest: monitors.versionOf(owner.apiVersion, owner.resource),
        local: resourceSync.localApiVersions,
      }),
    onCallFailed: (key, target, error) => outages.callFailed(key, target, error),
    onContradicted: lists.contradicted,
    onReleasedLate: journal.releasedLate,
    onQueued: journal.queued,
    whyQueued: (key) => journal.takeReason(queue, key),
    onPathNotFound: () => resourceSync.sooner('pathNotFound'),
    ...(onDecision === undefined ? {} : { onDecision }),
    get stopping() {
      return gate.term.stopping;
    },
    get signal() {
      return gate.term.calls;
    },
  };
}

function orphanBarrier({ options, monitors, gate }: WorkerParts, failures: BoundedLog): OrphanBarrier | undefined {
  if (options.orphanBarrier === 'off') return undefined;
  const { client, clock, orphanBarrierTimeoutMs: timeoutMs } = options;
  return new OrphanBarrier({
    client,
    clock,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    failures,
    resources: () => monitors.resources,
    signal: () => gate.term.calls,
  });
}
