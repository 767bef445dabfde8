import { BoundedLog } from '../base/logs/bounded-log.ts';
import { RestMapper } from '../api/meta/rest-mapper.ts';
import { EventRecorder } from '../client/events/event-recorder.ts';
import { AbsentOwnerCache } from './caches/absent-owner-cache.ts';
import { OrphanedOwners } from './caches/orphaned-owners.ts';
import { HeldDeletions } from './breaker/held-deletions.ts';
import { DecisionJournal } from './decision-journal.ts';
import { DEFAULTS, type GarbageCollectorOptions } from './garbage-collector-options.ts';
import { GraphWriter } from './graph-writer.ts';
import type { ApplyOutcome } from './graph/effect.ts';
import { OwnershipGraph } from './graph/ownership-graph.ts';
import { LeadershipTerm } from './leadership-term.ts';
import { MonitorIntake } from './monitor-intake.ts';
import { Monitors } from './monitors/monitors.ts';
import { ObjectReader } from './monitors/object-reader.ts';
import { ResourceSync } from './monitors/resource-sync.ts';
import { startMonitor } from './monitors/start-monitor.ts';
import { collectorGauges, collectorMetrics, forgetVanished } from './observation/collector-metrics.ts';
import { ConsistencyCheck } from './observation/consistency-check.ts';
import { InvalidNamespaceReports } from './observation/invalid-namespace-reports.ts';
import { PassingCascades } from './observation/terminating/passing-cascades.ts';
import { TerminatingObjects, terminatingGauges } from './observation/terminating/terminating-objects.ts';
import { TerminatingReports } from './observation/terminating/terminating-reports.ts';
import { AdaptiveConcurrency } from './operations/adaptive-concurrency.ts';
import { DeleteOptionsSupport } from './operations/delete-options-support.ts';
import { PatchSupport } from './operations/patch-support.ts';
import { createQueues } from './queues/queues.ts';
import { defaultIgnoredResources, monitoredResourceOf } from './resources/deletable-resources.ts';
import { KindMapper } from './resources/kind-mapper.ts';
import type { WorkerParts } from './start-workers.ts';
import { HeldLists } from './trust/held-lists.ts';
import { Outages } from './trust/outages.ts';
import { ReopenedWatches } from './trust/reopened-watches.ts';
import { Trust } from './trust/trust.ts';
import { Backlog } from './workers/backlog.ts';
import { OrphanRecords } from './workers/orphan-records.ts';
import { WorkGate } from './workers/work-gate.ts';
import type { GraphEvent } from './types/event.ts';

/** Name of the component in Events (COL-144). */
const COMPONENT = 'garbage-collector-controller';
/**
 * Maximum number of concurrent calls: the first number for each worker of one queue, but at least the second number, for owners with many
 * dependents.
 */
const CALLS_A_SYNC = 4;
const LEAST_CEILING = 100;

/** A collector's parts, connected. */
export interface CollectorParts extends WorkerParts {
  readonly consistency: ConsistencyCheck;
  readonly intake: MonitorIntake;
  readonly reopened: ReopenedWatches;
  readonly term: LeadershipTerm;
  /** Undefined unless terminating objects are reported. */
  readonly cascades: PassingCascades | undefined;
  readonly reports: TerminatingReports | undefined;
}

/** `started`: whether the workers have been started. */
export function createParts(options: GarbageCollectorOptions, started: () => boolean): CollectorParts {
  const { clock, metrics: registry, client, random, logger, writes = 'allowed' } = options;
  const { concurrentGcSyncs = DEFAULTS.concurrentGcSyncs, retry, retryCapMs = DEFAULTS.retryCapMs } = options;
  const calls = new AdaptiveConcurrency({
    clock,
    ceiling: Math.max(LEAST_CEILING, CALLS_A_SYNC * concurrentGcSyncs),
    few: options.fewCalls,
  });
  const hashSeed = random.integer(2 ** 31);
  const queues = createQueues({
    clock,
    metrics: registry,
    retryCapMs,
    hashSeed,
    ...(retry === undefined ? {} : { retry }),
  });
  const metrics = collectorMetrics(registry);
  const absentOwners = new AbsentOwnerCache(
    options.absentOwners === undefined ? {} : { capacity: options.absentOwners },
  );
  const graph = new OwnershipGraph({ hashSeed, absentOwners });
  const trust = new Trust({
    graph,
    queue: queues.attemptToDelete,
    watches: () => monitors.all(),
    vanishLimit: options.vanishLimit,
  });
  const { orphanRecordLifetimeMs: lifetimeMs } = options;
  const orphanedOwners = new OrphanedOwners(lifetimeMs === undefined ? {} : { lifetimeMs });
  const gate = new WorkGate();
  const support = new PatchSupport();
  const recorder = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
  const invalidNamespaces = new InvalidNamespaceReports({ graph, logger, recorder });
  const journal = new DecisionJournal({
    logger,
    metrics,
    recorder,
    reasons: options.onDecision === undefined ? 'dropped' : 'kept',
  });
  const { deletionLimits: limits } = options;
  const breaker =
    limits &&
    new HeldDeletions({
      limits,
      client,
      clock,
      random,
      logger,
      metrics: registry,
      recorder,
      queues,
      onQueued: journal.queued,
    });
  const orphanRecords = new OrphanRecords({
    client,
    clock,
    logger,
    orphanedOwners,
    component: COMPONENT,
    keptIn: options.orphanRecords ?? 'memory',
  });
  const lists = new HeldLists({
    clock,
    logger,
    recorder,
    absences: trust.absences,
    monitors: () => monitors,
  });
  const writer = new GraphWriter({
    graph,
    absentOwners,
    epoch: () => trust.epoch,
    queues,
    clock,
    metrics: registry,
    onQueued: journal.queued,
    onAbsence: journal.absence,
    onHeld: lists.held,
    report: invalidNamespaces.report,
  });
  const reopened = new ReopenedWatches({ clock, watches: () => monitors.all() });
  const outages = new Outages({
    clock,
    logger,
    trust,
    apply: writer.apply,
    restart: (isMeant) => void monitors.restart(isMeant),
    reopened,
    resetRecords: () => void orphanRecords.reset(gate.term.stopping),
    absentOwners,
    queues,
    onQueued: journal.queued,
  });
  const intake = new MonitorIntake({
    client,
    clock,
    logger,
    writer,
    lists,
    outages,
    resourceSync: () => resourceSync,
  });
  // All monitors share one reader. Its columns hold only the last object read, which is enough because `apply` reads them immediately.
  const reader = new ObjectReader(graph);
  const terminating = new TerminatingObjects(graph, clock);
  const { cascades, reports } = terminatingLog(options, { graph, gate, terminating });
  const observed = (event: GraphEvent): ApplyOutcome => {
    const outcome = cascades === undefined ? writer.apply(event) : cascades.take(event, writer.apply);
    terminating.take(event);
    return outcome;
  };
  const monitors: Monitors = new Monitors(
    (offered, tell, newest) =>
      startMonitor(offered, {
        client,
        clock,
        random,
        logger,
        reader,
        apply: observed,
        vanishLimit: () => trust.absences.limitOf(monitoredResourceOf(offered)),
        tell,
        newest,
      }),
    intake.of,
    () => trust.kinds.changed(),
  );
  const kinds = new KindMapper(new RestMapper([]), () => resourceSync.sooner('unknownKind'), options.unservedVersions);
  const resourceSync: ResourceSync = new ResourceSync({
    client,
    clock,
    random,
    logger,
    monitors,
    kinds,
    syncErrors: metrics.syncErrors,
    ignored: options.ignoredResources ?? defaultIgnoredResources,
    periodMs: options.syncPeriodMs ?? DEFAULTS.syncPeriodMs,
    onChanged: () => {
      support.forget();
      writer.wakeAll();
    },
    onVanished: (resource) => {
      trust.absences.forget(resource);
      writer.apply({ type: 'resourceVanished', resource });
    },
    onDiscovered: (served) => {
      forgetVanished(metrics, served);
      trust.forgetOld(clock.monotonic());
    },
  });
  terminatingGauges(registry, terminating);
  collectorGauges(registry, { graph, queues, monitors, kinds, calls, heldAbsences: trust.absences });
  const term = new LeadershipTerm({
    clock,
    logger,
    gate,
    orphanRecords,
    invalidNamespaces,
    breaker,
    recorder,
    writes,
    started,
    backlogs: (['attemptToDelete', 'attemptToOrphan'] as const).map(
      (queue) => new Backlog(queues[queue], graph, (key) => void journal.takeReason(queue, key)),
    ),
  });
  const consistency = new ConsistencyCheck({
    client,
    clock,
    logger,
    metrics,
    graph,
    monitors,
    periodMs: options.selfCheckPeriodMs,
  });
  const deleteOptions = new DeleteOptionsSupport();
  return {
    options,
    calls,
    graph,
    writer,
    queues,
    gate,
    absentOwners,
    orphanedOwners,
    orphanRecords,
    kinds,
    support,
    deleteOptions,
    metrics,
    monitors,
    resourceSync,
    lists,
    trust,
    outages,
    reopened,
    journal,
    breaker,
    consistency,
    intake,
    term,
    cascades,
    reports,
  };
}

/** Limit for lines about terminating objects and cascades: `burst` lines without an interval, then one line in `everyMs`. */
const TERMINATING_LINES = { burst: 50, everyMs: 1000 } as const;

function terminatingLog(
  { client, clock, logger, terminatingObjects = 'counted' }: GarbageCollectorOptions,
  parts: { readonly graph: OwnershipGraph; readonly gate: WorkGate; readonly terminating: TerminatingObjects },
): Pick<CollectorParts, 'cascades' | 'reports'> {
  if (terminatingObjects === 'counted') return { cascades: undefined, reports: undefined };
  const { graph, gate, terminating } = parts;
  const log = new BoundedLog({ logger, clock, ...TERMINATING_LINES });
  const leads = (): boolean => gate.isOpen;
  return {
    cascades: new PassingCascades({ graph, clock, log, logs: leads }),
    reports: new TerminatingReports({ client, graph, clock, terminating, log, reports: leads }),
  };
}
