import { setMaxListeners } from 'node:events';
import { linkSignals, untilAborted } from '../base/time/abort.ts';
import type { HttpHandler } from '../base/http-message.ts';
import type { Service } from '../base/service.ts';
import { type CollectorParts, createParts } from './collector-parts.ts';
import { DEFAULTS, type GarbageCollectorOptions } from './garbage-collector-options.ts';
import type { OwnershipGraph } from './graph/ownership-graph.ts';
import { waitForSync } from './monitors/wait-for-sync.ts';
import type { ConsistencyCheck } from './observation/consistency-check.ts';
import { debugHandler } from './observation/debug-handler.ts';
import { resourceKey } from './resources/deletable-resources.ts';
import { startWorkers } from './start-workers.ts';
import { ClusterIdentity } from './trust/cluster-identity.ts';
import type { WorkerPool } from './workers/worker-pool.ts';

/**
 * The garbage collector. Watches the metadata of every deletable resource, keeps the ownership graph, and deletes, orphans and releases
 * objects as the rules say (collector/SPEC.md). Runs against any API server; keeps nothing between runs (COL-217).
 */
export class GarbageCollector implements Service {
  readonly #options: GarbageCollectorOptions;
  /** Aborted when the client reached another cluster. */
  readonly #foreign: AbortSignal | undefined;
  readonly #parts: CollectorParts;
  #pools: readonly WorkerPool[] = [];

  /** Compares the graph with the server. */
  readonly consistency: ConsistencyCheck;

  /** Pages below {@link DEBUG_BASES}: the ownership graph in DOT (COL-180), its comparison with fresh lists, a rescan. */
  readonly debugHandler: HttpHandler;

  constructor(options: GarbageCollectorOptions) {
    const { client, clock, logger, identity = new ClusterIdentity({ clock, logger }) } = options;
    this.#foreign = identity === 'certain' ? undefined : identity.foreign;
    this.#options = identity === 'certain' ? options : { ...options, client: client.through(identity.intercept) };
    this.#parts = createParts(this.#options, () => this.started);
    this.consistency = this.#parts.consistency;
    this.debugHandler = debugHandler({ graph: this.#parts.graph, consistency: this.consistency });
  }

  /** True if there is at least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    return this.#parts.monitors.synced;
  }

  /**
   * The ownership graph as watches have shown it. Undefined until every monitor has synced, and while a watch may show outdated objects. Do
   * not change it, and copy what you need before you await anything: the next event changes it.
   */
  get currentGraph(): OwnershipGraph | undefined {
    return this.synced && this.#parts.trust.answers ? this.#parts.graph : undefined;
  }

  /** Whether {@link currentGraph} has all objects of a kind. */
  follows(apiVersion: string, kind: string): boolean {
    return this.#parts.trust.shows(apiVersion, kind);
  }

  /** True when the wait for the first lists is over, whether or not all have come (COL-210). Work begins as soon as it is allowed. */
  get started(): boolean {
    return this.#pools.length > 0;
  }

  /**
   * True if nothing is queued, delayed or being worked on, and every monitor is synced and needs no other watch. Events that the server has
   * not sent yet are unknown.
   */
  get atRest(): boolean {
    const { lists, reopened, queues } = this.#parts;
    const { attemptToDelete, attemptToOrphan } = queues;
    const waiting = attemptToDelete.len() + attemptToOrphan.len() + attemptToDelete.delayed + attemptToOrphan.delayed;
    const idle = this.started && waiting === 0 && this.#pools.every(({ busy }) => busy === 0);
    return idle && lists.settled && reopened.settled && this.synced;
  }

  /**
   * Runs until aborted, only once. The next instance completes a half-done cascade (COL-215). Rejects with a ForeignClusterError when the
   * address led to another cluster, and writes nothing from then on.
   */
  async run(signal: AbortSignal): Promise<void> {
    // Every request and every wait listens to this signal. Node would warn at eleven listeners.
    using stopping = linkSignals(signal, this.#foreign);
    setMaxListeners(0, stopping.signal);
    const failures: unknown[] = [];
    const supervised = (work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => {
        failures.push(error);
        stopping.abort();
      });
    const { client, clock, logger, workers: when } = this.#options;
    const { queues, gate, monitors, resourceSync, deleteOptions, term, intake } = this.#parts;
    const { lists, reopened, cascades, reports } = this.#parts;
    const services = [
      supervised(resourceSync.run(stopping.signal)),
      supervised(deleteOptions.learn(client, { clock, logger, signal: stopping.signal })),
      supervised(this.consistency.run(stopping.signal)),
      ...(reports === undefined ? [] : [supervised(reports.run(stopping.signal))]),
      supervised(when === 'whenLeading' ? term.sweepBacklog(stopping.signal) : this.lead(stopping.signal)),
    ];
    await this.#waitForMonitors(stopping.signal);
    const workers = stopping.signal.aborted ? [] : this.#startWorkers(stopping.signal).map(supervised);
    await untilAborted(stopping.signal);
    queues.attemptToDelete.shutDown();
    queues.attemptToOrphan.shutDown();
    gate.end();
    await Promise.all(workers);
    await Promise.all(services);
    await monitors.stop();
    lists.stop();
    reopened.stop();
    cascades?.stop();
    await intake.stop();
    this.#foreign?.throwIfAborted();
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Decides and acts until aborted. Resolves when nothing is in progress any more, and may then be called again. Requests in progress are
   * finished (COL-215); if the lease was lost they are aborted immediately, because another process will act soon. Abort this signal before
   * the signal of {@link GarbageCollector.run}.
   */
  lead(signal: AbortSignal): Promise<void> {
    return this.#parts.term.lead(signal);
  }

  /** Waits for the first lists. Leadership decides which process writes (COL-210). */
  async #waitForMonitors(signal: AbortSignal): Promise<void> {
    const { clock, logger, writes, initialSyncTimeoutMs = DEFAULTS.initialSyncTimeoutMs } = this.#options;
    const { monitors, gate } = this.#parts;
    await waitForSync(monitors, { clock, timeoutMs: initialSyncTimeoutMs, signal });
    if (signal.aborted) return;
    const acting = writes === 'withheld' ? 'observing' : 'collecting';
    const then = gate.isOpen ? acting : 'standing by';
    logger.info(
      this.synced ? `all monitors are synced, ${then}` : `not all monitors are synced, ${then} all the same`,
      {
        resources: monitors.size,
        unsynced: monitors.unsynced.map(resourceKey),
      },
    );
  }

  #startWorkers(stopping: AbortSignal): readonly Promise<void>[] {
    const { pools, running } = startWorkers(this.#parts, stopping);
    this.#pools = pools;
    return running;
  }
}
