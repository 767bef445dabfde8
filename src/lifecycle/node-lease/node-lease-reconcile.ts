import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';

export interface Lease extends KubeObject {
  spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly renewTime?: string | null;
  };
}

type LeaseDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'owned' | 'otherHolder' | 'neverRenewed' | 'nodeExists' }
  | { readonly verdict: 'wait'; readonly reason: 'young' | 'recent'; readonly untilMs: number }
  /** Only a live read shows whether the node exists. */
  | { readonly verdict: 'askNode'; readonly reason: 'stale' }
  | { readonly verdict: 'delete'; readonly reason: 'leaked' };

const MIN_AGE_MS = 3_600_000;
/** Number of lease durations after the last renewal after which the lease counts as stale. */
const DURATIONS = 10;

/** Decides whether a Lease of `kube-node-lease` belongs to a node that is gone (LIFE-202). `now` in epoch ms. */
export function decideLease(
  lease: Lease | undefined,
  now: number,
  node: 'unknown' | 'absent' | 'exists',
  minAgeMs = MIN_AGE_MS,
): LeaseDecision {
  if (lease === undefined || lease.metadata?.deletionTimestamp) return { verdict: 'nothing', reason: 'gone' };
  const { name, creationTimestamp, ownerReferences = [] } = lease.metadata ?? {};
  if (ownerReferences.length > 0) return { verdict: 'nothing', reason: 'owned' };
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease.spec ?? {};
  if (holderIdentity !== name) return { verdict: 'nothing', reason: 'otherHolder' };
  const created = parseTime(creationTimestamp ?? '');
  const renewed = parseTime(renewTime ?? '');
  if (created === undefined || renewed === undefined) return { verdict: 'nothing', reason: 'neverRenewed' };
  if (created + minAgeMs >= now) return { verdict: 'wait', reason: 'young', untilMs: created + minAgeMs + 1 };
  const staleAt = renewed + DURATIONS * (leaseDurationSeconds ?? 0) * 1000;
  if (staleAt >= now) return { verdict: 'wait', reason: 'recent', untilMs: staleAt + 1 };
  if (node === 'unknown') return { verdict: 'askNode', reason: 'stale' };
  return node === 'exists' ? { verdict: 'nothing', reason: 'nodeExists' } : { verdict: 'delete', reason: 'leaked' };
}
