import type { Int64 } from '../../base/json/exact-json.ts';
import type { DeleteOptions } from '../../client/rest/delete-options.ts';
import {
  formatGroupResource,
  type GroupVersionResource,
  parseGroupVersion,
} from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isMethodNotSupported, isNotFound, StatusError } from '../../api/status-error.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import { pathOf } from '../../client/rest/resource-path.ts';
import type { KubeList } from '../../client/codec/decode-list.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { isWithheld } from '../kit/dry-run.ts';
import { podEstimateSeconds, type Remaining, unexpectedItems } from './namespace-reconcile.ts';

/** A namespaced resource as discovery describes it. */
export interface NamespacedResource extends GroupVersionResource {
  readonly verbs: readonly string[];
}

/** The result for one resource in one pass. */
export type ContentOutcome =
  | { readonly state: 'empty' }
  | {
      readonly state: 'remains';
      readonly remaining: Remaining;
      /** Seconds; 0 for everything but pods (LIFE-441). */
      readonly podEstimateSeconds: number;
      readonly failure?: string;
    }
  /** The resource could not be listed, so its objects may still exist. */
  | { readonly state: 'unknown'; readonly failure: string };

/** `withheld`: the controller runs dry. */
type Result = 'ok' | 'withheld';

interface NamespaceContentOptions {
  readonly client: RestClient;
  readonly logger: Logger;
  /** The counter of `kit/deletion-counter.ts`. */
  readonly deletions: Counter;
  readonly namespace: string;
  readonly secondsSinceDeletion: number;
  readonly signal: AbortSignal;
}

/** Objects a page, so that a full namespace does not fill the memory. */
const PAGE_SIZE = 500;
/** Number of concurrent deletions if the server cannot delete collections. */
const DELETIONS_IN_FLIGHT = 8;
/** Timeout of a request, so that a server that does not answer delays a worker only this long. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Everything in the namespace is deleted anyway, so no deletion waits for its dependents (LIFE-450). */
const BACKGROUND: DeleteOptions = { propagationPolicy: 'Background' };
const REASON = 'namespace-deleted';
const EMPTY: ContentOutcome = { state: 'empty' };

/** Deletes the content of one terminating namespace, resource by resource, and reports the rest. It is used for one pass. */
export class NamespaceContent {
  readonly #options: NamespaceContentOptions;

  constructor(options: NamespaceContentOptions) {
    this.#options = options;
  }

  /**
   * Most resources have no objects in most namespaces, so a small LIST comes first and usually suffices; nothing can be created after it,
   * because the namespace is terminating. Rejects only if the pass is aborted.
   */
  async remove(resource: NamespacedResource): Promise<ContentOutcome> {
    try {
      const found = resource.verbs.includes('list') ? await this.#look(resource) : 'unlisted';
      if (found === 0) return EMPTY;
      const failure = await this.#delete(resource, found);
      if (found !== 'unlisted') return await this.#verify(resource, failure);
      return failure === undefined ? EMPTY : { state: 'unknown', failure };
    } catch (error) {
      if (this.#options.signal.aborted) throw error;
      return { state: 'unknown', failure: StatusError.from(error).message };
    }
  }

  /** Number of objects. `unlisted` if the server has no such path, or does not list it. */
  async #look(resource: NamespacedResource): Promise<number | 'unlisted'> {
    try {
      const { items, metadata } = await this.#list(resource, { limit: 1, accept: ACCEPT_METADATA_LIST_JSON });
      return items.length + (metadata.remainingItemCount ?? 0);
    } catch (error) {
      if (isNotOffered(error)) return 'unlisted';
      throw error;
    }
  }

  /** The failure, or undefined. It says nothing about deleted objects. */
  async #delete(resource: NamespacedResource, found: number | 'unlisted'): Promise<string | undefined> {
    if (resource.verbs.includes('deletecollection')) {
      try {
        const result = await this.#deleteCollection(resource);
        if (found !== 'unlisted') this.#count(resource, found, result);
        return undefined;
      } catch (error) {
        if (!isNotOffered(error)) return this.#failed(resource, error);
      }
    }
    return found === 'unlisted' ? undefined : await this.#deleteEach(resource);
  }

  async #deleteCollection(resource: NamespacedResource): Promise<Result> {
    const { client, namespace, signal } = this.#options;
    const { body } = await client.request({
      method: 'DELETE',
      path: pathOf({ gvr: resource, namespace }),
      // The answer lists the deleted objects, which are not used, so the shortest form is requested.
      accept: ACCEPT_METADATA_LIST_JSON,
      body: Buffer.from(JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...BACKGROUND })),
      timeoutMs: REQUEST_TIMEOUT_MS,
      signal,
      why: REASON,
    });
    // Only the short answer of a dry run is read.
    return body.length < 1000 && isWithheld(JSON.parse(Buffer.from(body).toString())) ? 'withheld' : 'ok';
  }

  /** Deletes one by one, each only if it is still the listed object (LIFE-013). */
  async #deleteEach(resource: NamespacedResource): Promise<string | undefined> {
    const inFlight = new Semaphore({ permits: DELETIONS_IN_FLIGHT, maxWaiting: PAGE_SIZE });
    let failure: string | undefined;
    for await (const { items } of this.#pages(resource, ACCEPT_METADATA_LIST_JSON)) {
      const results = await Promise.all(items.map((item) => inFlight.use(() => this.#deleteOne(resource, item))));
      failure ??= results.find((result) => result !== undefined);
    }
    return failure;
  }

  async #deleteOne(resource: NamespacedResource, { metadata = {} }: KubeObject): Promise<string | undefined> {
    const { client, namespace, signal } = this.#options;
    const { name = '', uid } = metadata;
    try {
      const answer = await client.delete(
        { gvr: resource, namespace, name },
        { ...BACKGROUND, ...(uid === undefined ? {} : { preconditions: { uid } }) },
        { timeoutMs: REQUEST_TIMEOUT_MS, signal, why: REASON },
      );
      this.#count(resource, 1, isWithheld(answer) ? 'withheld' : 'ok');
      return undefined;
    } catch (error) {
      // Gone (LIFE-450), or replaced by another object, which the following LIST shows.
      return isNotFound(error) || isConflict(error) ? undefined : this.#failed(resource, error);
    }
  }

  /** Counts the remaining objects after the deletion, page by page. */
  async #verify(resource: NamespacedResource, failure: string | undefined): Promise<ContentOutcome> {
    const { namespace, secondsSinceDeletion } = this.#options;
    const pods = resource.group === '' && resource.resource === 'pods';
    const finalizers = new Map<string, number>();
    let count = 0;
    let unheld = 0;
    let estimate = 0;
    for await (const { items } of this.#pages(resource, pods ? 'application/json' : ACCEPT_METADATA_LIST_JSON)) {
      count += items.length;
      for (const { metadata } of items) {
        const held = metadata?.finalizers ?? [];
        if (held.length === 0) unheld++;
        for (const name of held) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
      }
      if (pods) estimate = Math.max(estimate, podEstimateSeconds(items.map(podOf), secondsSinceDeletion));
    }
    if (count === 0) return EMPTY;
    const { group, version, resource: name } = resource;
    // Pods within their grace period are not counted as unexpected.
    const unexpected = estimate > 0 ? 0 : unheld;
    const remaining: Remaining = { group, version, resource: name, count, finalizers, unexpected };
    const problem = failure ?? unexpectedItems(namespace, remaining);
    return {
      state: 'remains',
      remaining,
      podEstimateSeconds: estimate,
      ...(problem === undefined ? {} : { failure: problem }),
    };
  }

  /** The pages of one consistent list; none if the server no longer offers the resource. */
  async *#pages(resource: NamespacedResource, accept: string): AsyncGenerator<KubeList> {
    let token: string | undefined;
    // The loop is bounded: the server's tokens lead through one snapshot.
    do {
      let page: KubeList;
      try {
        page = await this.#list(resource, { limit: PAGE_SIZE, accept, token });
      } catch (error) {
        if (isNotOffered(error)) return;
        throw error;
      }
      yield page;
      token = page.metadata.continue;
    } while (token !== undefined && token !== '');
  }

  /** Lists without a resource version, so that the server returns its current state and not that of a cache. */
  #list(
    resource: NamespacedResource,
    { limit, accept, token }: { limit: number; accept: string; token?: string | undefined },
  ): Promise<KubeList> {
    const { client, namespace, signal } = this.#options;
    return client.list(
      { gvr: resource, namespace },
      { query: { limit, continue: token }, accept, timeoutMs: REQUEST_TIMEOUT_MS, signal },
    );
  }

  #count(resource: NamespacedResource, count: number, result: Result): void {
    const { deletions, logger, namespace } = this.#options;
    deletions.inc(labelsOf(resource, result), count);
    if (result === 'withheld') return;
    const fields = { namespace, resource: formatGroupResource(resource), count, rule: 'LIFE-440' };
    logger.debug('deleted content of a terminating namespace', fields);
  }

  #failed(resource: NamespacedResource, error: unknown): string {
    if (this.#options.signal.aborted) throw error;
    this.#options.deletions.inc(labelsOf(resource, 'error'));
    return StatusError.from(error).message;
  }
}

const CONTROLLER = 'namespace-controller';

/**
 * Removes the counts of resources that are no longer served. A pass in progress may still add some; the next discovery removes them before
 * anything else is counted. Counts of groups that could not be read stay.
 */
export function forgetVanished(
  deletions: Counter,
  { resources, failedGroupVersions }: Pick<DiscoveryResult, 'resources' | 'failedGroupVersions'>,
): void {
  const served = new Set(resources.map(formatGroupResource));
  const unread = new Set([...failedGroupVersions.keys()].map((each) => parseGroupVersion(each)?.group));
  const vanished = (resource: string): boolean => {
    const dot = resource.indexOf('.');
    return !served.has(resource) && !unread.has(dot < 0 ? '' : resource.slice(dot + 1));
  };
  deletions.deletePartialMatch({ controller: CONTROLLER, resource: vanished });
}

function labelsOf(resource: NamespacedResource, result: Result | 'error') {
  return {
    controller: CONTROLLER,
    resource: formatGroupResource(resource),
    reason: REASON,
    result,
  };
}

/** 405, or a 404 for the path: the resource, or the verb, does not exist (any more). */
function isNotOffered(error: unknown): boolean {
  return isNotFound(error) || isMethodNotSupported(error);
}

function podOf(pod: KubeObject) {
  const { terminationGracePeriodSeconds } = (pod['spec'] ?? {}) as { terminationGracePeriodSeconds?: Int64 };
  const { phase } = (pod['status'] ?? {}) as { phase?: string };
  return { phase, terminationGracePeriodSeconds };
}
