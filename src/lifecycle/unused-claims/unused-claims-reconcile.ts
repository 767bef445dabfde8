import { PROTECT } from '../../api/meta/annotations.ts';
import { type Condition, findCondition, withCondition } from '../../api/meta/conditions.ts';
import { parseGoDuration } from '../../api/meta/duration.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import { isPodFinished, type Pod } from '../pods/pod-object.ts';
import { namesClaim } from '../volume-protection/claim-users.ts';

/** On a claim or its StorageClass: the time without a pod after which the claim is deleted, or `never`. The claim's counts first. */
export const DELETE_UNUSED_AFTER = 'kubegc.io/delete-unused-after';
const UNUSED = 'Unused';

export interface Claim extends KubeObject {
  spec?: { readonly storageClassName?: string };
  status?: { readonly conditions?: readonly Condition[] | null; readonly [field: string]: unknown };
}

type UnusedDecision =
  | { readonly verdict: 'update'; readonly reason: 'used' | 'unused'; readonly status: NonNullable<Claim['status']> }
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'terminating' | 'asItShouldBe' };

type UnusedDeletionDecision =
  | {
      readonly verdict: 'nothing';
      readonly reason: 'gone' | 'terminating' | 'used' | 'noTime' | 'protected';
    }
  | { readonly verdict: 'wait'; readonly reason: 'notExpired'; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: 'unused' };

/** True if a pod that has not finished names the claim. A pod without a node counts, unlike in the protection of claims. */
export function isClaimUsed(claim: KubeObject, podsOfNamespace: readonly Pod[]): boolean {
  return podsOfNamespace.some((pod) => !isPodFinished(pod) && namesClaim(pod, claim));
}

/** The condition `Unused` as kube-controller-manager 1.36 writes it (LIFE-156). `now` is in epoch ms. */
export function decideUnused(claim: Claim | undefined, isUsed: boolean, now: number): UnusedDecision {
  if (claim === undefined) return { verdict: 'nothing', reason: 'gone' };
  if (claim.metadata?.deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const conditions = claim.status?.conditions;
  if (findCondition(conditions, UNUSED)?.status === (isUsed ? 'False' : 'True')) {
    return { verdict: 'nothing', reason: 'asItShouldBe' };
  }
  const next: Condition = isUsed
    ? { type: UNUSED, status: 'False', reason: 'PodUsingPVC', message: 'A pod is currently referencing this PVC' }
    : {
        type: UNUSED,
        status: 'True',
        reason: 'NoPodsUsingPVC',
        message: 'No pods are currently referencing this PVC',
      };
  const status = { ...claim.status, conditions: withCondition(conditions, next, now) };
  return { verdict: 'update', reason: isUsed ? 'used' : 'unused', status };
}

/**
 * Decides whether a claim is deleted, because it has been unused for the time that it or its StorageClass states (LIFE-823). A protected
 * claim never is. A time that cannot be read counts as none. `now` is in epoch ms.
 */
export function decideUnusedDeletion(
  claim: Claim | undefined,
  {
    storageClass,
    isUsed,
    now,
  }: { readonly storageClass: KubeObject | undefined; readonly isUsed: boolean; readonly now: number },
): UnusedDeletionDecision {
  if (claim === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { deletionTimestamp, annotations = {} } = claim.metadata ?? {};
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  if (annotations[PROTECT] !== undefined) return { verdict: 'nothing', reason: 'protected' };
  const text = annotations[DELETE_UNUSED_AFTER] ?? storageClass?.metadata?.annotations?.[DELETE_UNUSED_AFTER] ?? '';
  const afterMs = parseGoDuration(text);
  if (afterMs === undefined || afterMs < 0) return { verdict: 'nothing', reason: 'noTime' };
  const condition = findCondition(claim.status?.conditions, UNUSED);
  const since = parseTime(condition?.lastTransitionTime ?? '');
  if (isUsed || condition?.status !== 'True' || since === undefined) return { verdict: 'nothing', reason: 'used' };
  const untilMs = since + afterMs;
  return untilMs > now ? { verdict: 'wait', reason: 'notExpired', untilMs } : { verdict: 'delete', reason: 'unused' };
}
