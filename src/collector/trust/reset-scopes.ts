import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { Lru } from '../../base/collections/lru.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { HistoryEvidence } from '../types/monitor-event.ts';

/**
 * The resources that are listed anew after evidence of a replaced history. `server`: all of them. `resource`: only the one that showed it.
 * `asListed`: none, because a list showed it, and that list is complete.
 */
export type ResetScope = 'server' | 'resource' | 'asListed';

/** A resource that kube-apiserver does not serve itself can have everything listed anew once in this time, ms. */
const ONCE_IN_MS = 3_600_000;
/** The last time is remembered for at most this many resources. A resource that is forgotten may have everything listed anew once more. */
const MAX_RESOURCES = 1000;

/**
 * Decides how much is listed anew when a history was replaced. Evidence from a resource of kube-apiserver itself counts for all that it
 * serves. Any other resource may be a custom one in the same storage, or belong to an extension server. Such a server counts versions as it
 * likes, may show an older state every few minutes, and must not hold up the others. So a lower version of such a resource says nothing
 * about other resources: they show a restore themselves. But a deletion that is taken back may be the only sign of a restore. It counts for
 * all resources, at most once an hour for each resource that shows it.
 */
export class ResetScopes {
  /** The time when everything was last listed anew because of a resource, by resource. */
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
