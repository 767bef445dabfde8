import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { Lru } from '../../base/collections/lru.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { HistoryEvidence } from '../types/monitor-event.ts';

/**
 * The resources that are relisted after evidence of a replaced history. `server`: all of them. `resource`: only the one that showed it.
 * `asListed`: none, because a list showed it, and that list is complete.
 */
export type ResetScope = 'server' | 'resource' | 'asListed';

/** Interval in which a resource that kube-apiserver does not serve itself can cause at most one relist of everything, ms. */
const ONCE_IN_MS = 3_600_000;
/** Maximum number of resources whose last time is remembered. A forgotten resource can cause one more relist of everything. */
const MAX_RESOURCES = 1000;

/**
 * Decides how much is relisted when a history was replaced. Evidence from a resource of kube-apiserver itself counts for everything that
 * kube-apiserver serves. Any other resource may be a custom one in the same storage, or belong to an extension server. An extension server
 * may count versions in its own way and show an older state every few minutes, and must not delay other resources. So a lower version of
 * such a resource says nothing about other resources: these show a restore themselves. But a deletion that is undone may be the only sign
 * of a restore. It counts for all resources, at most once an hour for each resource that shows it.
 */
export class ResetScopes {
  /** By resource: the time when it last caused a relist of everything. */
  readonly #last = new Lru<string, number>({ capacity: MAX_RESOURCES });

  /** `now`: monotonic, ms. */
  of(offered: OfferedResource, evidence: HistoryEvidence, now: number): ResetScope {
    if (isServedByKubeApiserver(apiVersionOf(offered))) return 'server';
    if (evidence === 'lowerVersion') return 'asListed';
    const key = resourceKey(offered);
    const last = this.#last.get(key) ?? Number.NEGATIVE_INFINITY;
    if (now - last < ONCE_IN_MS) return 'resource';
    this.#last.set(key, now);
    return 'server';
  }
}
