import type { MonitoredResource, VanishLimit } from './types/event.ts';
import type { Target } from './decide/target.ts';
import { setMaxListeners } from 'node:events';
import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import { RestMapper } from '../api/meta/rest-mapper.ts';
import { linkSignals, untilAborted } from '../base/abort.ts';
import { BoundedLog } from '../base/bounded-log.ts';
import { type Clock, sleepUnlessAborted, type Timer } from '../base/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import type { Logger } from '../base/logger.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import type { Service } from '../base/service.ts';
import { EventRecorder } from '../client/events/event-recorder.ts';
import { LeaseLostError } from '../client/election/leader-elector.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import {
  collectorGauges,
  collectorMetrics,
  type CollectorMetrics,
  forgetVanished,
} from './observation/collector-metrics.ts';
import { ConsistencyCheck } from './observation/consistency-check.ts';
import { debugHandler } from './observation/debug-handler.ts';
import { AbsentOwnerCache, type InDoubt } from './caches/absent-owner-cache.ts';
import type { DropAbsentOwnerEffect, HeldAbsencesEffect, NoteAbsentOwnerEffect } from './graph/effect.ts';
import type { Identity } from './types/identity.ts';
import { workKey, type WorkKey } from './queues/work-key.ts';
import { OrphanedOwners } from './caches/orphaned-owners.ts';
import { OwnershipGraph } from './graph/ownership-graph.ts';
import { GraphWriter } from './graph-writer.ts';
import { InvalidNamespaceReports } from './observation/invalid-namespace-reports.ts';
import { KindMapper, type UnservedVersions } from './resources/kind-mapper.ts';
import { HistoryScopes } from './monitors/history-scopes.ts';
import type { HistoryEvidence } from './monitors/monitor-sink.ts';
import { Monitors } from './monitors/monitors.ts';
import { ObjectReader } from './monitors/object-reader.ts';
import { ResumedWatches } from './monitors/resumed-watches.ts';
import { startMonitor } from './monitors/start-monitor.ts';
import { TroubleLog } from './monitors/trouble-log.ts';
import { waitForSync } from './monitors/wait-for-sync.ts';
import { AdaptiveConcurrency } from './operations/adaptive-concurrency.ts';
import { DeleteOptionsSupport } from './operations/delete-options-support.ts';
import { listVersion } from './operations/list-version.ts';
import { PatchSupport } from './operations/patch-support.ts';
import { createQueues, type OnQueued, type Queues, type RetryOptions } from './queues/queues.ts';
import { type QueueReason, sentenceOf } from './types/reasons.ts';
import { type ConfigurationEffect, configurationEffect } from './resources/configuration-resources.ts';
import {
  defaultIgnoredResources,
  type GroupResourceName,
  type OfferedResource,
  resourceKey,
} from './resources/deletable-resources.ts';
import { ResourceSync } from './monitors/resource-sync.ts';
import { isServedByKubeApiserver } from './resources/served-by-kube-apiserver.ts';
import { SettledDoubts } from './settled-doubts.ts';
import { HeldAbsences } from './trust/held-absences.ts';
import { Relists } from './trust/relists.ts';
import { versionFor } from './trust/version-for.ts';
import { AcceptedEnds } from './workers/accepted-ends.ts';
import { AwaitedNews } from './workers/awaited-news.ts';
import { Backlog } from './workers/backlog.ts';
import type { CollectorContext } from './workers/collector-context.ts';
import type { CarriedOut } from './workers/decision.ts';
import { DeleteWorker } from './workers/delete-worker.ts';
import { IgnoredFinalizers } from './workers/ignored-finalizers.ts';
import { OrphanBarrier } from './workers/orphan-barrier.ts';
import { OrphanRecords } from './workers/orphan-records.ts';
import { OrphanWorker } from './workers/orphan-worker.ts';
import { ReleaseDependents } from './workers/release-dependents.ts';
import { WorkGate } from './workers/work-gate.ts';
import { type WorkOutcome, WorkerPool } from './workers/worker-pool.ts';

/** What a collector works with, and how. */
export interface GarbageCollectorOptions {
  /** Reads and writes the cluster. */
  readonly client: RestClient;
  /** Tells it the time. */
  readonly clock: Clock;
  /** Spreads its retries. */
  readonly random: Random;
  /** Told of what goes wrong, and of each decision at level debug. */
  readonly logger: Logger;
  /** Counts what it does. */
  readonly metrics: Metrics;
  /** Workers of each of the two queues (COL-084). */
  readonly concurrentGcSyncs?: number;
  /** Calls under way at once with which it begins, and which slow answers do not reduce (BETTER-19). Default 8. */
  readonly fewCalls?: number;
  /** Between two looks at discovery (COL-016, COL-201), ms. */
  readonly syncPeriodMs?: number;
  /** How long workers wait for the first lists at start (COL-210, COL-201), ms. */
  readonly initialSyncTimeoutMs?: number;
  /**
   * Where owners that were deleted with policy Orphan are remembered (LIFE-561), default `memory`. With `events` each of them
   * costs one request, and a collector that is started later knows them too.
   */
  readonly orphanRecords?: 'memory' | 'events';
  /** Between two comparisons of the graph with fresh lists, ms. Default: none, unless asked for. */
  readonly selfCheckPeriodMs?: number | undefined;
  /** The longest back-off of a key (BETTER-8), ms. */
  readonly retryCapMs?: number;
  /** How attempts at one key are spread. */
  readonly retry?: RetryOptions;
  /** Identities proven absent that are remembered (COL-132). */
  readonly absentOwners?: number;
  /** Resources that are not watched and so never collected; Events unless given. */
  readonly ignoredResources?: readonly GroupResourceName[];
  /** Before an owner that is orphaned goes, whether fresh lists are asked for dependents nobody knows yet (BETTER-13). Default `on`. */
  readonly orphanBarrier?: 'on' | 'off';
  /**
   * How much of a resource may be missing from one list before nothing is deleted because of it until a second list confirms it. Default:
   * 50 objects, and a share of 0.2.
   */
  readonly vanishLimit?: VanishLimit | undefined;
  /** Default `unresolved` (BETTER-12). */
  readonly unservedVersions?: UnservedVersions;
  /**
   * `whenLeading`: everything is watched and kept ready, but nothing is decided and nothing written outside of
   * {@link GarbageCollector.lead} (COL-214, BETTER-23). Default `always`.
   */
  readonly workers?: 'always' | 'whenLeading';
  /**
   * `withheld`: decides and reads, but sends no write. What it would write stands in the results of a decision as `withheld`. Another
   * collector does the work, and its writes come back as watch events. Default `allowed`.
   */
  readonly writes?: 'allowed' | 'withheld';
  /** Told of every decision after it was carried out. */
  readonly onDecision?: (decision: CarriedOut) => void;
}

const DEFAULTS = {
  concurrentGcSyncs: 20,
  syncPeriodMs: 30_000,
  initialSyncTimeoutMs: 30_000,
  retryCapMs: 60_000,
} as const;

/** Name of the component in Events (COL-144). */
const COMPONENT = 'garbage-collector-controller';
/** What is in work at a stop may take this long; then its requests are aborted (COL-215), ms. */
const SHUTDOWN_GRACE_MS = 10_000;
/** Between two looks at what piled up while another one leads, ms. */
const BACKLOG_SWEEP_MS = 10_000;
/** Calls under way at once: so many a worker of one queue, but at least the other number, for owners with many dependents. */
const CALLS_A_SYNC = 4;
const LEAST_CEILING = 100;
/** Of writes that did not happen: as many lines at once, then one in this time. */
const FAILURE_LINES = { burst: 20, everyMs: 5000 } as const;
/** A list that lacked too much is asked for again so much later, ms. */
const CONFIRM_MS = 10_000;
/** Where Events about the collector itself are shown. */
const KUBE_SYSTEM = { apiVersion: 'v1', kind: 'Namespace', namespace: '', name: 'kube-system', uid: '' } as const;
/** Changes of admission within this time wake the keys that wait only once, ms. */
const WAKE_APART_MS = 1000;

/**
 * The garbage collector: watches the metadata of every deletable resource, keeps the ownership graph, and deletes, orphans and
 * releases what the rules say (collector/SPEC.md). Runs against any API server; keeps nothing between runs (COL-217).
 */
export class GarbageCollector implements Service {
  readonly #options: GarbageCollectorOptions;
  readonly #logger: Logger;
  readonly #graph: OwnershipGraph;
  readonly #queues: Queues;
  readonly #writer: GraphWriter;
  readonly #metrics: CollectorMetrics;
  readonly #absentOwners: AbsentOwnerCache;
  readonly #acceptedEnds: AcceptedEnds;
  readonly #awaitedNews: AwaitedNews;
  readonly #orphanedOwners = new OrphanedOwners();
  readonly #orphanRecords: OrphanRecords;
  readonly #monitors: Monitors;
  readonly #historyScopes: HistoryScopes;
  readonly #troubles: TroubleLog;
  readonly #heldAbsences: HeldAbsences;
  readonly #relists: Relists;
  readonly #resumedWatches: ResumedWatches;
  readonly #kinds: KindMapper;
  readonly #resourceSync: ResourceSync;
  readonly #support = new PatchSupport();
  readonly #deleteOptions = new DeleteOptionsSupport();
  readonly #recorder: EventRecorder;
  readonly #invalidNamespaces: InvalidNamespaceReports;
  /** One object for all monitors: its columns are those of the last object read, and `apply` reads them at once. */
  readonly #reader: ObjectReader;
  readonly #pools: WorkerPool[] = [];
  readonly #gate = new WorkGate();
  readonly #calls: AdaptiveConcurrency;
  /** By queue: one object may wait in both, for different reasons. */
  readonly #queuedFor: Readonly<Record<keyof Queues, Map<WorkKey, QueueReason>>> = {
    attemptToDelete: new Map(),
    attemptToOrphan: new Map(),
  };
  /** How many doubts there were with the last one that was about kube-apiserver itself. */
  #doubtsOfServer = 0;
  readonly #settledDoubts: SettledDoubts;
  /** Set while a change of admission is to wake the keys that wait. */
  #wakeTimer: Timer | undefined;

  constructor(options: GarbageCollectorOptions) {
    const { clock, metrics, client, random, logger } = options;
    this.#options = options;
    this.#logger = logger;
    const { concurrentGcSyncs = DEFAULTS.concurrentGcSyncs } = options;
    this.#calls = new AdaptiveConcurrency({
      clock,
      ceiling: Math.max(LEAST_CEILING, CALLS_A_SYNC * concurrentGcSyncs),
      few: options.fewCalls,
    });
    const hashSeed = random.integer(2 ** 31);
    this.#queues = createQueues({
      clock,
      metrics,
      retryCapMs: options.retryCapMs ?? DEFAULTS.retryCapMs,
      hashSeed,
      ...(options.retry === undefined ? {} : { retry: options.retry }),
    });
    this.#metrics = collectorMetrics(metrics);
    this.#absentOwners = new AbsentOwnerCache(
      options.absentOwners === undefined ? {} : { capacity: options.absentOwners },
    );
    this.#acceptedEnds = new AcceptedEnds(clock);
    this.#historyScopes = new HistoryScopes(clock);
    this.#settledDoubts = new SettledDoubts(clock);
    this.#graph = new OwnershipGraph({ hashSeed, absentOwners: this.#absentOwners });
    this.#awaitedNews = new AwaitedNews(this.#graph);
    this.#reader = new ObjectReader(this.#graph);
    this.#heldAbsences = new HeldAbsences(options.vanishLimit);
    this.#relists = new Relists({
      clock,
      list: (key) => {
        const offered = this.#monitors.resources.find((each) => resourceKey(each) === key);
        if (offered !== undefined) this.#heldAbsences.ask(monitoredResourceOf(offered));
        void this.#monitors.restart((each) => resourceKey(each) === key);
      },
    });
    this.#troubles = new TroubleLog({ clock, logger });
    this.#resumedWatches = new ResumedWatches({
      clock,
      logger,
      ask: (offered, signal) => listVersion({ client, signal }, { gvr: offered }),
    });
    this.#recorder = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
    this.#invalidNamespaces = new InvalidNamespaceReports({ graph: this.#graph, logger, recorder: this.#recorder });
    this.#orphanRecords = new OrphanRecords({
      client,
      clock,
      logger,
      orphanedOwners: this.#orphanedOwners,
      component: COMPONENT,
      keptIn: options.orphanRecords ?? 'memory',
    });
    this.#writer = new GraphWriter({
      graph: this.#graph,
      absentOwners: this.#absentOwners,
      queues: this.#queues,
      clock,
      metrics,
      onQueued: this.#onQueued,
      onAbsence: this.#onAbsence,
      onHeld: this.#onHeld,
      report: this.#invalidNamespaces.report,
    });
    this.#kinds = new KindMapper(
      new RestMapper([]),
      () => this.#resourceSync.sooner('unknownKind'),
      options.unservedVersions,
    );
    this.#monitors = new Monitors((offered, events) => {
      const effect = configurationEffect(offered);
      return startMonitor(offered, {
        client,
        clock,
        random,
        logger,
        troubles: this.#troubles,
        ...(isServedByKubeApiserver(apiVersionOf(offered)) ? { resumedWatches: this.#resumedWatches } : {}),
        reader: this.#reader,
        apply: this.#writer.apply,
        vanishLimit: () => this.#heldAbsences.limitOf(monitoredResourceOf(offered)),
        onListed: () => this.#onListed(offered),
        onWaitingListed: this.#writer.lookAgain,
        onTouched: this.#writer.touched,
        ...events,
        onDoubt: (about) => this.#doubtOfWatch(offered, about),
        // The server may have been away once more while all watches paused.
        onRecovered: () => this.#doubtNews(),
        onHistoryReset: (evidence) => this.#resetHistory(offered, evidence),
        ...(effect === undefined ? {} : { onChanged: () => this.#configurationChanged(effect) }),
      });
    });
    this.#resourceSync = new ResourceSync({
      client,
      clock,
      random,
      logger,
      monitors: this.#monitors,
      kinds: this.#kinds,
      syncErrors: this.#metrics.syncErrors,
      doubts: () => this.#settledDoubts.count,
      ignored: options.ignoredResources ?? defaultIgnoredResources,
      periodMs: options.syncPeriodMs ?? DEFAULTS.syncPeriodMs,
      onChanged: () => {
        this.#support.forget();
        this.#writer.wakeAll();
      },
      onVanished: (resource) => {
        this.#heldAbsences.forget(resource);
        this.#writer.apply({ type: 'resourceVanished', resource });
      },
      onDiscovered: (served) => {
        forgetVanished(this.#metrics, served);
        this.#acceptedEnds.forgetOld();
        this.#awaitedNews.forgetShown();
      },
    });
    collectorGauges(metrics, {
      clock,
      graph: this.#graph,
      queues: this.#queues,
      monitors: this.#monitors,
      kinds: this.#kinds,
      calls: this.#calls,
      heldAbsences: this.#heldAbsences,
    });
    this.consistency = new ConsistencyCheck({
      client,
      clock,
      logger,
      metrics: this.#metrics,
      graph: this.#graph,
      monitors: this.#monitors,
      periodMs: options.selfCheckPeriodMs,
    });
    this.debugHandler = debugHandler({ graph: this.#graph, consistency: this.consistency });
  }

  /** Compares the graph with the server. */
  readonly consistency: ConsistencyCheck;

  /** Pages below {@link DEBUG_BASES}: the ownership graph in DOT (COL-180), its comparison with fresh lists, a rescan. */
  readonly debugHandler: HttpHandler;

  /** At least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    return this.#monitors.synced;
  }

  /** The time for the first lists is over, whether or not all have come (COL-210): work begins as soon as it may. */
  get started(): boolean {
    return this.#pools.length > 0;
  }

  /** Nothing is queued, delayed or being worked on, and every monitor is synced. What the server has not sent yet is unknown. */
  get atRest(): boolean {
    const { attemptToDelete, attemptToOrphan } = this.#queues;
    const waiting = attemptToDelete.len() + attemptToOrphan.len() + attemptToDelete.delayed + attemptToOrphan.delayed;
    const settled = this.#heldAbsences.size === 0 && this.#relists.size === 0;
    return (
      settled && this.#pools.length > 0 && this.synced && waiting === 0 && this.#pools.every(({ busy }) => busy === 0)
    );
  }

  /** Runs until aborted, once; a half-done cascade is completed by the next instance (COL-215). */
  async run(signal: AbortSignal): Promise<void> {
    // Every request and every wait listens to these; Node warns at eleven.
    using stopping = linkSignals(signal);
    setMaxListeners(0, stopping.signal);
    const failures: unknown[] = [];
    const supervised = (work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => {
        failures.push(error);
        stopping.abort();
      });
    const { client, clock } = this.#options;
    const learning = { clock, logger: this.#logger, signal: stopping.signal };
    const services = [
      supervised(this.#resourceSync.run(stopping.signal)),
      supervised(this.#deleteOptions.learn(client, learning)),
      supervised(this.consistency.run(stopping.signal)),
      supervised(
        this.#options.workers === 'whenLeading' ? this.#sweepBacklog(stopping.signal) : this.lead(stopping.signal),
      ),
    ];
    await this.#waitForMonitors(stopping.signal);
    const workers = stopping.signal.aborted ? [] : this.#startWorkers(stopping.signal).map(supervised);
    await untilAborted(stopping.signal);
    this.#queues.attemptToDelete.shutDown();
    this.#queues.attemptToOrphan.shutDown();
    this.#gate.end();
    await Promise.all(workers);
    await Promise.all(services);
    await this.#monitors.stop();
    this.#troubles.stop();
    this.#relists.stop();
    await this.#resumedWatches.stop();
    this.#wakeTimer?.cancel();
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Decides and acts until aborted; resolves when nothing is under way any more. May be called again after that. Requests
   * under way are finished (COL-215), but cut at once when the lease was lost: somebody else acts soon. Its signal is to be
   * aborted before that of {@link GarbageCollector.run}.
   */
  async lead(signal: AbortSignal): Promise<void> {
    using stopping = linkSignals(signal);
    const calls = new AbortController();
    setMaxListeners(0, stopping.signal, calls.signal);
    // What was orphaned before must be known before anything is taken for garbage (LIFE-561).
    await this.#orphanRecords.load(stopping.signal);
    if (stopping.signal.aborted) return;
    const acts = this.#options.writes !== 'withheld';
    if (acts) this.#invalidNamespaces.beginTerm();
    const recorder = acts ? this.#recorder.run(stopping.signal) : undefined;
    this.#gate.open({ stopping: stopping.signal, calls: calls.signal });
    // Before the workers start nothing is collected, and what they wait for says what follows.
    if (this.started && acts) this.#logger.info('collecting from now on');
    await untilAborted(stopping.signal);
    if (signal.reason instanceof LeaseLostError) calls.abort(signal.reason);
    const graceOver = this.#options.clock.setTimer(SHUTDOWN_GRACE_MS, () => calls.abort());
    await this.#gate.close();
    graceOver.cancel();
    await recorder;
    if (acts) this.#invalidNamespaces.endTerm();
  }

  /** While another one leads nobody takes the keys. */
  async #sweepBacklog(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const backlogs = (['attemptToDelete', 'attemptToOrphan'] as const).map(
      (queue) => new Backlog(this.#queues[queue], this.#graph, (key) => this.#takeReason(queue, key)),
    );
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, BACKLOG_SWEEP_MS, signal);
      if (signal.aborted) return;
      if (!this.#gate.isOpen) for (const backlog of backlogs) backlog.sweep();
    }
  }

  /** COL-210. */
  async #waitForMonitors(signal: AbortSignal): Promise<void> {
    const { clock, initialSyncTimeoutMs = DEFAULTS.initialSyncTimeoutMs } = this.#options;
    await waitForSync(this.#monitors, { clock, timeoutMs: initialSyncTimeoutMs, signal });
    if (signal.aborted) return;
    const acting = this.#options.writes === 'withheld' ? 'observing' : 'collecting';
    const then = this.#gate.isOpen ? acting : 'standing by';
    this.#logger.info(
      this.synced ? `all monitors are synced, ${then}` : `not all monitors are synced, ${then} all the same`,
      { resources: this.#monitors.size, unsynced: this.#monitors.unsynced.map(resourceKey) },
    );
  }

  #startWorkers(stopping: AbortSignal): Promise<void>[] {
    const { client, clock, random, onDecision, concurrentGcSyncs = DEFAULTS.concurrentGcSyncs } = this.#options;
    const gate = this.#gate;
    const throttled = client.through(this.#calls.intercept);
    const failures = new BoundedLog({ logger: this.#logger, clock, ...FAILURE_LINES });
    const contextOf = (queue: keyof Queues): CollectorContext => ({
      client: throttled,
      through: (interceptor) => client.through(interceptor).through(this.#calls.intercept),
      clock,
      random,
      logger: this.#logger,
      failures,
      graph: this.#graph,
      absentOwners: this.#absentOwners,
      orphanedOwners: this.#orphanedOwners,
      acceptedEnds: this.#acceptedEnds,
      awaitedNews: this.#awaitedNews,
      kinds: this.#kinds,
      queues: this.#queues,
      support: this.#support,
      deleteOptions: this.#deleteOptions,
      metrics: this.#metrics,
      writes: this.#options.writes ?? 'allowed',
      apply: this.#writer.apply,
      trust: () => (this.#monitors.current ? 'trusted' : 'untrusted'),
      follows: (apiVersion, kind) => this.#monitors.follows(apiVersion, kind),
      holdsAbsences: (apiVersion, kind) => this.#heldAbsences.holds(apiVersion, kind),
      versionFor: (owner, dependent) =>
        versionFor(owner, dependent, this.#monitors.versionOf(owner.apiVersion, owner.resource)),
      onContradicted: (target) => this.#onContradicted(target),
      doubt: (about) => this.#doubt(about),
      doubtsOfServer: () => this.#doubtsOfServer,
      onReleasedLate: this.#onReleasedLate,
      onQueued: this.#onQueued,
      whyQueued: (key) => this.#takeReason(queue, key),
      onPathNotFound: () => this.#resourceSync.sooner('pathNotFound'),
      ...(onDecision === undefined ? {} : { onDecision }),
      get stopping() {
        return gate.term.stopping;
      },
      get signal() {
        return gate.term.calls;
      },
    });
    const pool = (queue: Queues[keyof Queues], process: (key: WorkKey) => Promise<WorkOutcome>): WorkerPool =>
      new WorkerPool({
        queue,
        workers: concurrentGcSyncs,
        clock,
        logger: this.#logger,
        process,
        gate,
        stopping,
      });
    const context = contextOf('attemptToOrphan');
    const orphaning = {
      release: new ReleaseDependents(context),
      records: this.#orphanRecords,
      barrier: this.#barrier(failures),
    };
    this.#pools.push(
      pool(this.#queues.attemptToDelete, new DeleteWorker(contextOf('attemptToDelete')).process),
      pool(this.#queues.attemptToOrphan, new OrphanWorker(context, orphaning).process),
    );
    const ignored = new IgnoredFinalizers(context, {
      ...orphaning,
      resources: () => this.#resourceSync.ignoredServed,
      periodMs: this.#options.syncPeriodMs ?? DEFAULTS.syncPeriodMs,
      whenLeading: (work) => gate.pass(work),
    });
    const pools = this.#pools.map((each) => each.run());
    return this.#options.writes === 'withheld' ? pools : [...pools, ignored.run(stopping)];
  }

  readonly #onReleasedLate = (dependent: Identity, references: number): void => {
    this.#metrics.lateReferences.inc({}, references);
    const reason = 'OrphanedOwnerReferenceReleased';
    const message = sentenceOf(reason);
    this.#logger.info(message, { dependent, references, reason });
    this.#recorder.event(dependent, { type: 'Normal', reason, message });
  };

  /** The newest reason counts; kept only for whoever is told of decisions. Bounded by the keys in the queues. */
  readonly #onQueued: OnQueued = (queued, reason) => {
    this.#metrics.queued.inc({ reason });
    if (this.#options.onDecision === undefined) return;
    this.#queuedFor[queued.queue].set(workKey(queued.uid, queued.as), reason);
  };

  readonly #onAbsence = (effect: NoteAbsentOwnerEffect | DropAbsentOwnerEffect): void => {
    const { reason } = effect;
    const about = effect.effect === 'noteAbsentOwner' ? effect.identity : { uid: effect.uid };
    this.#logger.debug(sentenceOf(reason), { ...about, reason });
  };

  /** Until a second list, a while later, lacks the same objects. */
  readonly #onHeld = ({ resource, missing, known }: HeldAbsencesEffect): void => {
    if (this.#heldAbsences.begin({ resource, missing, known }) === 'goesOn') return;
    const { apiVersion, kind, resource: plural } = resource;
    const reason = 'VanishedObjectsNotBelieved';
    const message = `${missing} of ${known} objects of ${plural} (${apiVersion}) vanished at once: nothing is deleted because of it until a second list has confirmed it`;
    this.#logger.warn(message, { apiVersion, kind, resource: plural, missing, known, reason });
    this.#recorder.event(KUBE_SYSTEM, { type: 'Warning', reason, message });
    const offered = this.#offeredOf(apiVersion, plural);
    if (offered !== undefined) this.#relists.ask(resourceKey(offered), CONFIRM_MS);
  };

  #onListed(offered: OfferedResource): void {
    const resource = monitoredResourceOf(offered);
    const end = this.#heldAbsences.listed(resource);
    if (end === undefined) return;
    const { apiVersion, kind, resource: plural } = resource;
    const said =
      end === 'confirmed'
        ? 'a second list has confirmed what vanished; owners are read before anything is deleted'
        : 'a later list shows the objects again that had vanished';
    this.#logger.info(said, { apiVersion, kind, resource: plural });
  }

  #onContradicted({ apiVersion, resource }: Target): void {
    const offered = this.#offeredOf(apiVersion, resource);
    if (offered !== undefined) this.#relists.ask(resourceKey(offered));
  }

  #offeredOf(apiVersion: string, resource: string): OfferedResource | undefined {
    return this.#monitors.resources.find((each) => each.resource === resource && apiVersionOf(each) === apiVersion);
  }

  #takeReason(queue: keyof Queues, key: WorkKey): QueueReason | undefined {
    const reason = this.#queuedFor[queue].get(key);
    this.#queuedFor[queue].delete(key);
    return reason;
  }

  #barrier(failures: BoundedLog): OrphanBarrier | undefined {
    if (this.#options.orphanBarrier === 'off') return undefined;
    const { client, clock } = this.#options;
    return new OrphanBarrier({
      client,
      clock,
      failures,
      resources: () => this.#monitors.resources,
      signal: () => this.#gate.term.calls,
    });
  }

  #configurationChanged(effect: ConfigurationEffect): void {
    if (effect === 'discovery') this.#resourceSync.sooner('definitionChanged');
    // What the change brings about is there a little later than the object that asks for it.
    this.#wakeTimer ??= this.#options.clock.setTimer(WAKE_APART_MS, () => {
      this.#wakeTimer = undefined;
      this.#writer.wakeAll();
    });
  }

  /** The server of this resource is away, or was. Another one than kube-apiserver's says nothing about that. */
  #doubtOfWatch(offered: OfferedResource, about: InDoubt): void {
    const doubts = this.#doubt(about);
    this.#doubtNews();
    if (isServedByKubeApiserver(apiVersionOf(offered))) this.#doubtsOfServer = doubts;
  }

  /** Answers how many there have been (AbsentOwnerCache). */
  #doubt(about: InDoubt): number {
    const doubts = this.#absentOwners.doubt(about);
    this.#settledDoubts.note(doubts);
    return doubts;
  }

  /** The server may be another one when it is back, on which what was done has not happened: no news of it comes. */
  #doubtNews(): void {
    this.#acceptedEnds.forgetAll();
    for (const uid of this.#awaitedNews.take()) {
      this.#onQueued({ queue: 'attemptToDelete', uid, as: 'observed' }, 'newsInDoubt');
      this.#queues.attemptToDelete.add(workKey(uid, 'observed'));
    }
  }

  /** The server forgot what it had shown: uids that went may be alive again, so that every absence is a question. */
  #resetHistory(offered: OfferedResource, evidence: HistoryEvidence): void {
    const resource = resourceKey(offered);
    const scope = this.#historyScopes.of(offered, evidence);
    const said =
      evidence === 'lowerVersion' ? 'the resource version went backwards' : 'the server took a deletion back';
    this.#logger.warn(scope === 'server' ? `${said}; everything is listed anew` : said, { resource });
    this.#absentOwners.clear();
    this.#acceptedEnds.forgetAll();
    this.#writer.apply(scope === 'server' ? { type: 'historyReset' } : { type: 'historyReset', of: 'serverBeside' });
    if (scope === 'asListed') return;
    if (scope === 'resource') return void this.#monitors.restart((each) => resourceKey(each) === resource);
    void this.#orphanRecords.reset(this.#gate.term.stopping);
    void this.#monitors.restart();
  }
}

function monitoredResourceOf(offered: OfferedResource): MonitoredResource {
  return { apiVersion: apiVersionOf(offered), kind: offered.kind, resource: offered.resource };
}
