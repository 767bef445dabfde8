import { setMaxListeners } from 'node:events';
import { RestMapper } from '../api/meta/rest-mapper.ts';
import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import { MetadataReader } from '../api/codec/metadata-reader.ts';
import { isAbortError } from '../base/abort-error.ts';
import { linkSignals } from '../base/abort.ts';
import { type Clock, sleep, type Timer } from '../base/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import type { Logger } from '../base/logger.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import type { Service } from '../base/service.ts';
import { discover, type DiscoveryResult } from '../client/discovery.ts';
import { EventRecorder } from '../client/event-recorder.ts';
import { Reflector } from '../client/reflector.ts';
import type { RestClient } from '../client/rest-client.ts';
import { collectorMetrics, type CollectorMetrics } from './collector-metrics.ts';
import { debugHandler } from './debug-handler.ts';
import { AbsentOwnerCache } from './graph/absent-owner-cache.ts';
import type { MonitoredResource } from './graph/event.ts';
import type { WorkKey } from './graph/work-key.ts';
import { OwnershipGraph } from './graph/ownership-graph.ts';
import { GraphWriter } from './graph-writer.ts';
import { invalidNamespaceEvent } from './invalid-namespace-event.ts';
import { KindMapper } from './kind-mapper.ts';
import { MonitorSink } from './monitors/monitor-sink.ts';
import { type Monitor, Monitors } from './monitors/monitors.ts';
import { PatchSupport } from './operations/patch-support.ts';
import { createQueues, type Queues } from './queues.ts';
import {
  defaultIgnoredResources,
  deletableResources,
  type GroupResourceName,
  type OfferedResource,
  resourceKey,
} from './resources/deletable-resources.ts';
import type { CollectorContext } from './workers/collector-context.ts';
import { DeleteWorker } from './workers/delete-worker.ts';
import { OrphanWorker } from './workers/orphan-worker.ts';
import { type WorkOutcome, WorkerPool } from './workers/worker-pool.ts';

export interface GarbageCollectorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Workers of each of the two queues (COL-084). */
  readonly concurrentGcSyncs?: number;
  /** Between two looks at discovery (COL-016, COL-201), ms. */
  readonly syncPeriodMs?: number;
  /** How long workers wait for the first lists at start (COL-210, COL-201), ms. */
  readonly initialSyncTimeoutMs?: number;
  /** The longest back-off of a key (BETTER-8), ms. */
  readonly retryCapMs?: number;
  /** Identities proven absent that are remembered (COL-132). */
  readonly absentOwners?: number;
  readonly ignoredResources?: readonly GroupResourceName[];
}

const DEFAULTS = {
  concurrentGcSyncs: 20,
  syncPeriodMs: 30_000,
  initialSyncTimeoutMs: 30_000,
  retryCapMs: 60_000,
} as const;

/** Name of the component in Events (COL-144). */
const COMPONENT = 'garbage-collector-controller';
/** How often it is asked whether all monitors have synced, at start. */
const SYNC_POLL_MS = 10;
/** Earliest repetition of discovery when a kind was not found (COL-029). */
const UNKNOWN_KIND_REDISCOVER_MS = 1000;

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
  readonly #monitors: Monitors;
  readonly #kinds: KindMapper;
  readonly #support = new PatchSupport();
  readonly #recorder: EventRecorder;
  /** One object for all monitors: its columns are those of the last object read, and `apply` reads them at once. */
  readonly #reader = new MetadataReader();
  readonly #pools: WorkerPool[] = [];
  #wantedKeys = '';
  #rediscover: (() => void) | undefined;
  #workersStarted = false;

  constructor(options: GarbageCollectorOptions) {
    const { clock, metrics, client, random, logger } = options;
    this.#options = options;
    this.#logger = logger;
    this.#graph = new OwnershipGraph({ hashSeed: random.integer(2 ** 31) });
    this.#queues = createQueues({ clock, metrics, retryCapMs: options.retryCapMs ?? DEFAULTS.retryCapMs });
    this.#metrics = collectorMetrics(metrics, this.#graph);
    this.#absentOwners = new AbsentOwnerCache(
      options.absentOwners === undefined ? {} : { capacity: options.absentOwners },
    );
    this.#recorder = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
    this.#writer = new GraphWriter({
      graph: this.#graph,
      absentOwners: this.#absentOwners,
      queues: this.#queues,
      metrics,
      report: (report) => {
        const { involvedObject, event } = invalidNamespaceEvent(report);
        logger.warn(event.message, { dependent: report.dependent });
        this.#recorder.event(involvedObject, event);
      },
    });
    this.#monitors = new Monitors((resource) => this.#startMonitor(resource));
    this.#kinds = new KindMapper(new RestMapper([]), () => this.#rediscover?.());
    this.debugHandler = debugHandler(this.#graph);
  }

  /** The ownership graph in DOT, below {@link DEBUG_BASES} (COL-180). */
  readonly debugHandler: HttpHandler;

  /** At least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    return this.#monitors.synced;
  }

  /** Nothing is queued, delayed or being worked on, and every monitor is synced. What the server has not sent yet is unknown. */
  get atRest(): boolean {
    const { attemptToDelete, attemptToOrphan } = this.#queues;
    const waiting = attemptToDelete.len() + attemptToOrphan.len() + attemptToDelete.delayed + attemptToOrphan.delayed;
    return this.#workersStarted && this.synced && waiting === 0 && this.#pools.every(({ busy }) => busy === 0);
  }

  /** Runs until aborted; a half-done cascade is completed by the next instance (COL-215). */
  async run(parent: AbortSignal): Promise<void> {
    using own = linkSignals(parent);
    const { signal } = own;
    // Every request under way listens to it, and there are as many as there are workers.
    setMaxListeners(0, signal);
    const recorder = this.#recorder.run(signal);
    try {
      await this.#syncResources(signal);
      await this.#waitForMonitors(signal, this.#options.initialSyncTimeoutMs ?? DEFAULTS.initialSyncTimeoutMs);
      const synced = this.synced;
      this.#logger.info(
        synced ? 'all monitors are synced, collecting' : 'not all monitors are synced, collecting all the same',
        {
          resources: this.#monitors.size,
          unsynced: this.#monitors.unsynced.map(resourceKey),
        },
      );
      const workers = this.#startWorkers(signal);
      await this.#keepResourcesInSync(signal);
      this.#queues.attemptToDelete.shutDown();
      this.#queues.attemptToOrphan.shutDown();
      await workers;
    } catch (error) {
      if (!isAbortError(error)) throw error;
    } finally {
      this.#queues.attemptToDelete.shutDown();
      this.#queues.attemptToOrphan.shutDown();
      await this.#monitors.stop();
      await recorder;
    }
  }

  #startWorkers(signal: AbortSignal): Promise<void> {
    const { client, clock, random } = this.#options;
    const context: CollectorContext = {
      client,
      clock,
      random,
      logger: this.#logger,
      graph: this.#graph,
      absentOwners: this.#absentOwners,
      kinds: this.#kinds,
      queues: this.#queues,
      support: this.#support,
      metrics: this.#metrics,
      apply: this.#writer.apply,
      trust: () => (this.synced ? 'trusted' : 'untrusted'),
      signal,
    };
    const workers = this.#options.concurrentGcSyncs ?? DEFAULTS.concurrentGcSyncs;
    const pool = (queue: Queues[keyof Queues], process: (key: WorkKey) => Promise<WorkOutcome>): WorkerPool =>
      new WorkerPool({ queue, workers, clock, logger: this.#logger, process });
    this.#pools.push(
      pool(this.#queues.attemptToDelete, new DeleteWorker(context).process),
      pool(this.#queues.attemptToOrphan, new OrphanWorker(context).process),
    );
    this.#workersStarted = true;
    return Promise.all(this.#pools.map((each) => each.run())).then(() => undefined);
  }

  #startMonitor(offered: OfferedResource): Monitor {
    const { client, clock, random } = this.#options;
    const resource: MonitoredResource = {
      apiVersion: apiVersionOf(offered),
      kind: offered.kind,
      resource: offered.resource,
    };
    const stopping = new AbortController();
    let trouble: Error | undefined;
    const sink = new MonitorSink({
      resource,
      read: (bytes, start, end) => {
        this.#reader.read(bytes, start, end);
        return this.#reader;
      },
      apply: this.#writer.apply,
      onSynced: () => this.#logger.debug('a monitor is synced', { resource: resourceKey(offered) }),
      onFailed: (error) => {
        trouble = error;
      },
    });
    const { group, version, resource: name } = offered;
    const reflector = new Reflector({
      client,
      clock,
      random,
      logger: this.#logger,
      gvr: { group, version, resource: name },
      representation: 'metadata',
      sink,
    });
    const running = reflector.run(stopping.signal);
    return {
      resource,
      get synced() {
        return sink.isSynced;
      },
      get trouble() {
        return trouble;
      },
      stop: () => {
        stopping.abort();
        return running;
      },
    };
  }

  async #keepResourcesInSync(signal: AbortSignal): Promise<void> {
    const period = this.#options.syncPeriodMs ?? DEFAULTS.syncPeriodMs;
    while (!signal.aborted) {
      await this.#nextPass(period, signal);
      if (signal.aborted) return;
      if (await this.#syncResources(signal)) {
        if (!(await this.#waitForMonitors(signal, period))) {
          this.#metrics.syncErrors.inc();
          this.#logger.warn('timed out waiting for dependency graph builder sync during GC sync', {
            unsynced: this.#monitors.unsynced.map(resourceKey),
          });
        }
      }
    }
  }

  /** After the period, or sooner when a kind was asked for that the mapper does not know (COL-029). */
  async #nextPass(periodMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    using sooner = linkSignals(signal);
    let timer: Timer | undefined;
    this.#rediscover = () => {
      this.#rediscover = undefined;
      timer = clock.setTimer(UNKNOWN_KIND_REDISCOVER_MS, () => sooner.abort());
    };
    try {
      await sleep(clock, periodMs, sooner.signal);
    } catch (error) {
      if (!isAbortError(error)) throw error;
    } finally {
      this.#rediscover = undefined;
      timer?.cancel();
    }
  }

  /** One pass over discovery (COL-016…COL-023). True when the set of monitors changed. */
  async #syncResources(signal: AbortSignal): Promise<boolean> {
    const discovered = await this.#discover(signal);
    if (discovered === undefined) return false;
    this.#kinds.replace(new RestMapper(discovered.resources));
    const wanted = deletableResources(discovered.preferred, this.#options.ignoredResources ?? defaultIgnoredResources);
    if (wanted.length === 0) {
      this.#metrics.syncErrors.inc();
      this.#logger.warn('discovery found no deletable resource; the monitors stay as they are');
      return false;
    }
    const keys = wanted.map(resourceKey).toSorted().join(' ');
    if (keys === this.#wantedKeys && discovered.failedGroupVersions.size === 0) return false;
    this.#wantedKeys = keys;
    const { added, removed } = await this.#monitors.sync(wanted, new Set(discovered.failedGroupVersions.keys()));
    if (added === 0 && removed.length === 0) return false;
    this.#support.forget();
    // BETTER-2; after the new monitors are there, because a version that changed is not a resource that vanished.
    for (const { resource } of removed) this.#writer.apply({ type: 'resourceVanished', resource });
    this.#writer.wakeAll();
    return true;
  }

  async #discover(signal: AbortSignal): Promise<DiscoveryResult | undefined> {
    try {
      const found = await discover(this.#options.client, { signal });
      if (found.resources.length > 0) {
        if (found.failedGroupVersions.size > 0) {
          this.#logger.warn('discovery failed for some groups', {
            groupVersions: [...found.failedGroupVersions.keys()],
          });
        }
        return found;
      }
      this.#logger.warn('discovery found no resource; the monitors stay as they are');
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#logger.warn('discovery failed; the monitors stay as they are', {
        error: error instanceof Error ? error.message : String(error),
      });
    }
    this.#metrics.syncErrors.inc();
    return undefined;
  }

  /** False when the time is over and some monitor has not finished its first list. */
  async #waitForMonitors(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + timeoutMs;
    while (!this.synced) {
      if (signal.aborted || clock.monotonic() >= deadline) return false;
      await sleep(clock, SYNC_POLL_MS, signal);
    }
    return true;
  }
}
