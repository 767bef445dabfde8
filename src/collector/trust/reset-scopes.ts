import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { Lru } from '../../base/collections/lru.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { HistoryEvidence } from '../types/monitor-event.ts';

/**
 * The lists that an evidence calls for. `server`: everything. `resource`: what showed it. `asListed`: nothing, because it was shown
 * by a list, which has come to its end.
 */
export type ResetScope = 'server' | 'resource' | 'asListed';

/** What another resource than kube-apiserver's shows has everything listed anew once in this time, ms. */
const ONCE_IN_MS = 3_600_000;
/** Resources of which is known when they last did. One that is forgotten may do it once more. */
const MAX_RESOURCES = 1000;

/**
 * How far it goes that a history was replaced. What kube-apiserver itself serves speaks for all that it serves. Of any other resource
 * nobody can tell whether it is a custom one, of the same storage, or of a server beside it, that counts as it likes and may show an older
 * state every few minutes; such a server must not hold up the others. So a lower version of it says nothing about the others, which show
 * it by themselves. That a deletion is taken back may be the only thing that is ever seen of a restore, and counts for all; of one
 * resource once an hour.
 */
export class ResetScopes {
  /** When everything was listed anew because of this resource. */
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
