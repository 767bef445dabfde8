import { POD_TTL } from '../../api/meta/annotations.ts';
import type { Condition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import { podEnd } from '../pods/pod-end.ts';
import { isPodFinished, type Pod } from '../pods/pod-object.ts';

export interface FinishedJob extends KubeObject {
  spec?: { readonly ttlSecondsAfterFinished?: number | null };
  status?: { readonly conditions?: readonly Condition[] | null };
}

export type TtlDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'terminating' | 'noTtl' | 'unfinished' | 'owned' }
  /** The object has no finish time. */
  | { readonly verdict: 'error'; readonly reason: 'noFinishTime'; readonly message: string }
  | { readonly verdict: 'wait'; readonly reason: 'notExpired'; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: 'expired'; readonly expiredAtMs: number };

/** Decides whether a finished Job's TTL has expired (LIFE-080 to LIFE-087). `now` in epoch ms. */
export function decideJobTtl(job: FinishedJob | undefined, now: number): TtlDecision {
  if (job === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { deletionTimestamp, namespace = '', name = '' } = job.metadata ?? {};
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const ttl = job.spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || ttl === null) return { verdict: 'nothing', reason: 'noTtl' };
  const finished = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  if (finished === undefined) return { verdict: 'nothing', reason: 'unfinished' };
  const at = parseTime(finished.lastTransitionTime ?? '');
  if (at === undefined) {
    const message = `unable to find the time when the Job ${namespace}/${name} finished`;
    return { verdict: 'error', reason: 'noFinishTime', message };
  }
  return decideAt(at + ttl * 1000, now);
}

/** Decides whether the TTL of a pod with the annotation has expired; pods of Jobs belong to the Job (LIFE-067). */
export function decidePodTtl(pod: Pod | undefined, now: number): TtlDecision {
  if (pod === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { deletionTimestamp, annotations = {}, ownerReferences = [] } = pod.metadata ?? {};
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const text = annotations[POD_TTL];
  if (text === undefined || !/^\d{1,9}$/.test(text)) return { verdict: 'nothing', reason: 'noTtl' };
  if (ownerReferences.some(({ controller }) => controller)) return { verdict: 'nothing', reason: 'owned' };
  if (!isPodFinished(pod)) return { verdict: 'nothing', reason: 'unfinished' };
  return decideAt((podEnd(pod) ?? now) + Number(text) * 1000, now);
}

function decideAt(expiresAt: number, now: number): TtlDecision {
  if (expiresAt > now) return { verdict: 'wait', reason: 'notExpired', untilMs: expiresAt };
  return { verdict: 'delete', reason: 'expired', expiredAtMs: expiresAt };
}
