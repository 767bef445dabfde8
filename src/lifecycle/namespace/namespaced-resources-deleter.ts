import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { isConflict, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Compatibility } from '../kit/compatibility.ts';
import type { SyncOutcome } from '../kit/reconcile-loop.ts';
import { type ContentOutcome, forgetVanished, NamespaceContent, type NamespacedResource } from './namespace-content.ts';
import {
  decideAfterPass,
  decideNamespaceStep,
  NAMESPACE_FINALIZER,
  type NamespaceCondition,
  nextConditions,
  type PassReport,
  type Remaining,
  specFinalizers,
} from './namespace-reconcile.ts';

export const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const PODS: NamespacedResource = {
  group: '',
  version: 'v1',
  resource: 'pods',
  verbs: ['delete', 'deletecollection', 'list'],
};

/**
 * Number of resources of one namespace that are processed concurrently (LIFE-451). Together with the workers it bounds the requests in
 * flight.
 */
const RESOURCES_IN_FLIGHT = 8;
/** Maximum number of write attempts to a namespace that changes concurrently. Beyond it, the key backs off (LIFE-448). */
const MAX_CONFLICTS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };

interface NamespacedResourcesDeleterOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly compat: Compatibility;
  readonly deletions: Counter;
  /** Discovers the server's resources. The discovery begins after the call, see `shared-discovery.ts`. */
  readonly discover: (signal: AbortSignal) => Promise<DiscoveryResult>;
}

/** Empties terminating namespaces and removes their finalizer (upstream `pkg/controller/namespace/deletion`). SPEC.md has the states. */
export class NamespacedResourcesDeleter {
  readonly #options: NamespacedResourcesDeleterOptions;

  constructor(options: NamespacedResourcesDeleterOptions) {
    this.#options = options;
  }

  /** One pass over one namespace (LIFE-440). It throws only errors about the namespace itself, not about its content. */
  async delete(name: string, signal: AbortSignal): Promise<SyncOutcome> {
    let namespace = await this.#read(name, signal);
    if (namespace !== undefined && decideNamespaceStep(namespace) === 'mark-terminating') {
      namespace = await this.#write(namespace, { subresource: 'status', change: terminating, signal });
    }
    if (namespace === undefined || decideNamespaceStep(namespace) !== 'delete-content') return SETTLED;
    const report = await this.#deleteContent(namespace, signal);
    const isStrict = this.#options.compat === 'strict';
    const shown = isStrict ? withoutPods(report) : report;
    const change = (current: KubeObject): KubeObject | undefined => this.#withConditions(current, shown);
    namespace = await this.#write(namespace, { subresource: 'status', change, signal });
    if (namespace === undefined) return SETTLED;
    const decision = decideAfterPass(report, isStrict ? Number.POSITIVE_INFINITY : this.#msSinceDeletion(namespace));
    if (decision.verdict === 'finalize') {
      await this.#write(namespace, { subresource: 'finalize', change: finalized, signal });
      return SETTLED;
    }
    const { reason, afterMs } = decision;
    if (afterMs !== undefined) return { next: 'later', afterMs };
    const { contentFailures, discoveryError, discoveryFailures, unparsableGroupVersions } = report;
    const fields = { namespace: name, reason, contentFailures, discoveryError, discoveryFailures };
    this.#options.logger.warn('a namespace cannot be emptied', { ...fields, unparsableGroupVersions });
    return { next: 'back-off' };
  }

  /** Pods are deleted first and alone, all other resources in parallel, unless `compat` is `strict` (LIFE-441, LIFE-451). */
  async #deleteContent(namespace: KubeObject, signal: AbortSignal): Promise<PassReport> {
    const found = await this.#discover(signal);
    const { client, logger, deletions, compat } = this.#options;
    const content = new NamespaceContent({
      client,
      logger,
      deletions,
      namespace: namespace.metadata?.name ?? '',
      secondsSinceDeletion: this.#msSinceDeletion(namespace) / 1000,
      signal,
    });
    const pods = found.resources.find(isPods) ?? PODS;
    const podOutcome = await content.remove(pods);
    if (podOutcome.state !== 'empty') return reportOf(found, [podOutcome], 'pods-first');
    const inFlight = new Semaphore({ permits: compat === 'strict' ? 1 : RESOURCES_IN_FLIGHT });
    const others = found.resources.filter((resource) => !isPods(resource));
    const outcomes = await Promise.all(others.map((resource) => inFlight.use(() => content.remove(resource), signal)));
    return reportOf(found, outcomes, 'everything');
  }

  /** The deletable resources, and the groups that discovery could not read: these keep the namespace, but stop nothing else (LIFE-442). */
  async #discover(signal: AbortSignal): Promise<Discovered> {
    try {
      const discovered = await this.#options.discover(signal);
      const { preferred, failedGroupVersions } = discovered;
      forgetVanished(this.#options.deletions, discovered);
      const failed = [...failedGroupVersions].map(([groupVersion, { message }]) => ({ groupVersion, message }));
      const parses = ({ groupVersion }: { groupVersion: string }): boolean =>
        parseGroupVersion(groupVersion) !== undefined;
      return {
        resources: preferred.filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete')),
        failures: {
          discoveryFailures: Object.fromEntries(
            failed.filter(parses).map(({ groupVersion, message }) => [groupVersion, message]),
          ),
          unparsableGroupVersions: failed.filter((entry) => !parses(entry)).map(({ message }) => message),
        },
      };
    } catch (error) {
      if (signal.aborted) throw error;
      const discoveryError = StatusError.from(error).message;
      return { resources: [], failures: { discoveryError, discoveryFailures: {}, unparsableGroupVersions: [] } };
    }
  }

  #withConditions(namespace: KubeObject, report: PassReport): KubeObject | undefined {
    const status = (namespace['status'] ?? {}) as { conditions?: NamespaceCondition[] };
    const conditions = nextConditions(status.conditions ?? [], report, formatTime(this.#options.clock.now()));
    return conditions && { ...namespace, status: { ...status, conditions } };
  }

  #msSinceDeletion(namespace: KubeObject): number {
    const now = this.#options.clock.now();
    return now - (parseTime(namespace.metadata?.deletionTimestamp ?? '') ?? now);
  }

  /** Undefined if there is no such namespace. */
  async #read(name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await this.#options.client.get({ gvr: NAMESPACES, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    }
  }

  /**
   * Writes the result of `change` on the namespace, or after a conflict on a fresh read, as long as it is the same namespace (LIFE-448).
   * Resolves with its final state, unwritten if `change` returns undefined; undefined if it is gone.
   */
  async #write(
    namespace: KubeObject,
    { subresource, change, signal }: NamespaceWrite,
  ): Promise<KubeObject | undefined> {
    const { name = '', uid } = namespace.metadata ?? {};
    let current: KubeObject | undefined = namespace;
    for (let conflicts = 0; current !== undefined && current.metadata?.uid === uid; conflicts++) {
      const next = change(current);
      if (next === undefined) return current;
      try {
        return await this.#options.client.update({ gvr: NAMESPACES, name, subresource }, next, { signal });
      } catch (error) {
        if (isObjectNotFound(error, name)) return undefined;
        if (!isConflict(error) || conflicts >= MAX_CONFLICTS) throw error;
      }
      current = await this.#read(name, signal);
    }
    return undefined;
  }
}

interface NamespaceWrite {
  readonly subresource: 'status' | 'finalize';
  /** Undefined to leave it unchanged. */
  readonly change: (namespace: KubeObject) => KubeObject | undefined;
  readonly signal: AbortSignal;
}

type DiscoveryFailures = Pick<PassReport, 'discoveryError' | 'discoveryFailures' | 'unparsableGroupVersions'>;

interface Discovered {
  readonly resources: readonly NamespacedResource[];
  readonly failures: DiscoveryFailures;
}

function isPods({ group, resource }: NamespacedResource): boolean {
  return group === '' && resource === 'pods';
}

function reportOf(
  { failures }: Discovered,
  outcomes: readonly ContentOutcome[],
  scope: 'pods-first' | 'everything',
): PassReport {
  const remaining: Remaining[] = [];
  const contentFailures: string[] = [];
  let estimate = 0;
  for (const outcome of outcomes) {
    if (outcome.state === 'empty') continue;
    if (outcome.failure !== undefined) contentFailures.push(outcome.failure);
    if (outcome.state === 'unknown') continue;
    remaining.push(outcome.remaining);
    estimate = Math.max(estimate, outcome.podEstimateSeconds);
  }
  return { ...failures, remaining, contentFailures, podEstimateSeconds: estimate, podsFirst: scope === 'pods-first' };
}

/** The report as upstream shows it in conditions: while pods remain, it says that nothing does (LIFE-446). */
function withoutPods(report: PassReport): PassReport {
  return report.podsFirst ? { ...report, remaining: [] } : report;
}

function terminating(namespace: KubeObject): KubeObject | undefined {
  if (decideNamespaceStep(namespace) !== 'mark-terminating') return undefined;
  return { ...namespace, status: { ...(namespace['status'] as object | undefined), phase: 'Terminating' } };
}

/** Removes only our own finalizer; others keep the namespace (LIFE-447). */
function finalized(namespace: KubeObject): KubeObject | undefined {
  const held = specFinalizers(namespace);
  const finalizers = held.filter((name) => name !== NAMESPACE_FINALIZER);
  if (finalizers.length === held.length) return undefined;
  return { ...namespace, spec: { ...(namespace['spec'] as object | undefined), finalizers } };
}
