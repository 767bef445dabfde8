import { append } from '../../base/collections/append.ts';
import { abortErrorOf, isAbortError } from '../../base/time/abort-error.ts';
import { orAborted, untilAborted } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { type Clock, sleep, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CollectorMetrics } from './collector-metrics.ts';
import { freshList } from './fresh-list.ts';
import { checkInvariants, compareWithList, type Difference, type Inconsistency } from '../graph/check-consistency.ts';
import type { MonitoredResource, ObservedObject } from '../types/event.ts';
import type { GraphCounts } from '../graph/graph.ts';
import type { Uid } from '../types/identity.ts';
import type { OwnershipGraph } from '../graph/ownership-graph.ts';
import type { Monitors } from '../monitors/monitors.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';

/** One difference between the graph and the server. */
interface GraphDifference extends Difference {
  readonly resource: OfferedResource;
  /** Version of the listed object; empty for an object that is not listed. */
  readonly resourceVersion: string;
}

interface ConsistencyReport {
  /** Differences in the resources of synced monitors. */
  readonly differences: readonly GraphDifference[];
  /** Violated invariants of the graph itself. */
  readonly inconsistencies: readonly Inconsistency[];
  /** Resources that could not be listed. */
  readonly unread: readonly OfferedResource[];
  /** True if everything was compared: every resource was listed, and every monitor had synced. */
  readonly complete: boolean;
}

interface ConsistencyCheckOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<CollectorMetrics, 'consistencyChecks' | 'consistencyDifferences'>;
  readonly graph: OwnershipGraph;
  readonly monitors: Monitors;
  /** Time from one check to the next, ms. Undefined: checks only when asked. */
  readonly periodMs: number | undefined;
}

/** Nothing can be compared, because nobody keeps the graph up to date. */
export class NotRunningError extends Error {
  constructor(when: 'before' | 'after') {
    super(when === 'before' ? 'the collector does not run yet' : 'the collector is stopped');
    this.name = 'NotRunningError';
  }
}

/** Time between the two comparisons of a check, ms. No working watch is so far behind. */
const APART_MS = 10_000;
/** Maximum number of objects of each resource that the log names. */
const NAMED = 5;

/**
 * Compares the graph with fresh lists of everything that is monitored, as client-go's reflector can check its store. A difference in one
 * comparison may be an event that has not arrived yet. A difference in two comparisons is an error: it is reported, and its resource is
 * relisted.
 */
export class ConsistencyCheck {
  readonly #options: ConsistencyCheckOptions;
  /** The signal of `run`. Every check is a part of `run`, also one that a request started. Undefined before `run`. */
  #stopping: AbortSignal | undefined;
  /** The check under way. All who ask meanwhile get its report. */
  #underWay: Promise<ConsistencyReport> | undefined;

  constructor(options: ConsistencyCheckOptions) {
    this.#options = options;
  }

  /** The resources that are compared: all that are monitored now. */
  get resources(): readonly OfferedResource[] {
    return this.#options.monitors.resources;
  }

  /** Violated invariants of the graph: none, unless this program has an error. O(nodes + references). */
  invariants(): Inconsistency[] {
    return checkInvariants(this.#options.graph);
  }

  /**
   * Sizes of the graph's tables. Everything is 0 when the server has nothing that is monitored. `unlisted`: nodes whose absence a standby
   * collector has not proven. It keeps them until it leads, or until the next list of their kind. O(nodes).
   */
  get counts(): GraphCounts & { readonly nameBytes: number; readonly unlisted: number } {
    const { graph } = this.#options;
    let unlisted = 0;
    graph.forEachNode((id) => {
      if (graph.isUnlisted(id)) unlisted++;
    });
    return { ...graph.counts, nameBytes: graph.bytes.names.used, unlisted };
  }

  /** Allows checks until aborted, and checks again and again if there is a period. Call it once. No check is under way after it. */
  async run(signal: AbortSignal): Promise<void> {
    const { periodMs } = this.#options;
    this.#stopping = signal;
    if (periodMs === undefined) await untilAborted(signal);
    else await this.#checkEvery(periodMs, signal);
    // Only those who asked for the check need its outcome.
    await this.#underWay?.catch(() => {});
  }

  async #checkEvery(periodMs: number, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await sleepUnlessAborted(this.#options.clock, periodMs, signal);
        await this.check();
      }
    } catch (error) {
      if (!(error instanceof NotRunningError)) throw error;
    }
  }

  /** Relists everything, whatever the graph contains. Throws {@link NotRunningError} outside of `run`. */
  rescan(): readonly OfferedResource[] {
    this.#signal();
    const { monitors, logger } = this.#options;
    logger.info('everything is listed anew', { resources: monitors.size });
    void monitors.restart();
    return monitors.resources;
  }

  /**
   * Compares twice, unless the first comparison finds nothing. Differences that both find are logged as errors, counted, and repaired by
   * relisting their resources. Each comparison costs the server one list of each resource. Rejects with {@link NotRunningError} outside of
   * `run` or when `run` stops meanwhile. Rejects with an AbortError when `asker` is aborted: the check continues, for others and for the
   * repair.
   */
  async check(asker?: AbortNotice): Promise<ConsistencyReport> {
    const signal = this.#signal();
    if (asker?.aborted === true) throw abortErrorOf(asker);
    this.#underWay ??= this.#checkUntil(signal).finally(() => {
      this.#underWay = undefined;
    });
    return orAborted(this.#underWay, asker);
  }

  #signal(): AbortSignal {
    if (this.#stopping === undefined) throw new NotRunningError('before');
    if (this.#stopping.aborted) throw new NotRunningError('after');
    return this.#stopping;
  }

  /** Lists and compares the resources, one after the other. Holds the metadata of one resource at a time. */
  async look(signal: AbortSignal): Promise<ConsistencyReport> {
    const differences: GraphDifference[] = [];
    const unread: OfferedResource[] = [];
    let complete = true;
    for (const offered of this.resources) {
      if (signal.aborted) break;
      const found = await this.#compare(offered, signal);
      if (found === 'unread') unread.push(offered);
      if (typeof found === 'string') complete = false;
      else append(differences, found);
    }
    return { differences, inconsistencies: this.invariants(), unread, complete };
  }

  async #checkUntil(signal: AbortSignal): Promise<ConsistencyReport> {
    try {
      return await this.#check(signal);
    } catch (error) {
      if (signal.aborted && isAbortError(error)) throw new NotRunningError('after');
      throw error;
    }
  }

  async #check(signal: AbortSignal): Promise<ConsistencyReport> {
    const first = await this.#wholeLook(signal);
    if (first.differences.length + first.inconsistencies.length === 0) return this.#ended(first, 'equal');
    await sleep(this.#options.clock, APART_MS, signal);
    const second = await this.#wholeLook(signal);
    const report = { ...second, differences: persisting(first, second) };
    const equal = report.differences.length + report.inconsistencies.length === 0;
    if (!equal) await this.#repair(report);
    return this.#ended(report, equal ? 'equal' : 'different');
  }

  /** Rejects a comparison that was cut short, because it has not seen everything. */
  async #wholeLook(signal: AbortSignal): Promise<ConsistencyReport> {
    const report = await this.look(signal);
    if (signal.aborted) throw abortErrorOf(signal);
    return report;
  }

  #ended(report: ConsistencyReport, outcome: 'equal' | 'different'): ConsistencyReport {
    const { logger, metrics } = this.#options;
    const unread = report.unread.map(resourceKey);
    if (unread.length > 0) logger.warn('resources could not be listed to compare them with the graph', { unread });
    metrics.consistencyChecks.inc({ outcome: outcome === 'equal' && !report.complete ? 'incomplete' : outcome });
    return report;
  }

  async #repair({ differences, inconsistencies }: ConsistencyReport): Promise<void> {
    const { logger, metrics, monitors } = this.#options;
    if (inconsistencies.length > 0) {
      logger.error('the ownership graph is wrong in itself', { found: inconsistencies.slice(0, NAMED) });
    }
    const byResource = new Map<string, GraphDifference[]>();
    for (const found of differences) {
      const { resource, difference } = found;
      metrics.consistencyDifferences.inc({ resource: resource.resource, difference });
      const key = resourceKey(resource);
      const others = byResource.get(key);
      if (others === undefined) byResource.set(key, [found]);
      else others.push(found);
    }
    for (const [resource, found] of byResource) {
      const objects = found.slice(0, NAMED).map(({ uid, difference }) => ({ uid, difference }));
      logger.error('the ownership graph differs from the server, and the resource is listed anew', {
        resource,
        count: found.length,
        objects,
      });
    }
    if (byResource.size > 0) await monitors.restart((resource) => byResource.has(resourceKey(resource)));
  }

  async #compare(offered: OfferedResource, signal: AbortSignal): Promise<GraphDifference[] | 'unread' | 'unsynced'> {
    const { client, graph, monitors } = this.#options;
    const objects = new Map<Uid, ObservedObject>();
    try {
      for await (const object of freshList(client, offered, signal)) objects.set(object.uid, object);
    } catch {
      return 'unread';
    }
    // Compares with the graph as of now, not as of the start of the list: objects that came in meanwhile are no differences.
    const monitor = monitors.of(offered);
    // The monitor was stopped meanwhile: there is nothing to compare with any more.
    if (monitor === undefined) return [];
    if (!monitor.synced) return 'unsynced';
    for (const uid of objects.keys()) if (this.#isShownByAnother(uid, monitor.resource)) objects.delete(uid);
    return compareWithList(graph, monitor.resource, objects.values()).map((difference) => ({
      ...difference,
      resource: offered,
      resourceVersion: objects.get(difference.uid)?.resourceVersion ?? '',
    }));
  }

  /** Two monitored resources may show one object (COL-015, COL-019). It is compared with the list of the resource that showed it last. */
  #isShownByAnother(uid: Uid, resource: MonitoredResource): boolean {
    const { graph, monitors } = this.#options;
    const id = graph.find(uid);
    const shownAs = id < 0 ? undefined : graph.resourceAt(id);
    if (shownAs === undefined) return false;
    const shown = { ...graph.typeAt(id), resource: shownAs };
    const same = shown.apiVersion === resource.apiVersion && shown.kind === resource.kind;
    return !(same && shownAs === resource.resource) && monitors.shows(shown);
  }
}

/** The differences that both comparisons found: the same object, at the same version, differs in the same way. */
function persisting(first: ConsistencyReport, second: ConsistencyReport): GraphDifference[] {
  const keyOf = ({ resource, uid, difference, resourceVersion }: GraphDifference): string =>
    `${resourceKey(resource)} ${uid} ${difference} ${resourceVersion}`;
  const before = new Set(first.differences.map(keyOf));
  return second.differences.filter((difference) => before.has(keyOf(difference)));
}
