import { type Condition, findCondition, withCondition } from '../../api/meta/conditions.ts';
import { labelSelectorFromSet } from '../../api/selectors/label-selector.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodAvailable } from '../pods/pod-availability.ts';
import { isPodReady, type Pod } from '../pods/pod-object.ts';
import { podsToDelete } from './pod-deletion-order.ts';
import type { ReplicaSet, ReplicaSetStatus } from './replica-set.ts';

/** Maximum number of pods that one sync of an owner creates or deletes (LIFE-010). */
const BURST_REPLICAS = 500;

type ReplicasDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'owner terminating' | 'as many as asked for' }
  | { readonly verdict: 'create'; readonly count: number; readonly reason: 'too few replicas' }
  | { readonly verdict: 'delete'; readonly pods: readonly Pod[]; readonly reason: 'too many replicas' };

/**
 * Decides about the number of pods of a ReplicaSet (LIFE-261, LIFE-262). `active` are its claimed active pods; `related` is called only if
 * some of them are deleted and others stay. Pure.
 */
export function decideReplicas(
  owner: ReplicaSet,
  active: readonly Pod[],
  { related, now }: { readonly related: () => readonly Pod[]; readonly now: number },
): ReplicasDecision {
  if (isTerminating(owner)) return { verdict: 'nothing', reason: 'owner terminating' };
  const surplus = active.length - (owner.spec?.replicas ?? 1);
  if (surplus === 0) return { verdict: 'nothing', reason: 'as many as asked for' };
  const count = Math.min(Math.abs(surplus), BURST_REPLICAS);
  if (surplus < 0) return { verdict: 'create', count, reason: 'too few replicas' };
  const pods = podsToDelete(active, { count, related: count < active.length ? related() : [], now });
  return { verdict: 'delete', pods, reason: 'too many replicas' };
}

interface ReplicaSetObservation {
  readonly active: readonly Pod[];
  /** Undefined if the kind does not count them. */
  readonly terminating: readonly Pod[] | undefined;
  /** The error message that stopped this sync from creating or deleting pods. */
  readonly failure: string | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** The status after a sync (LIFE-266), or undefined if the current one is right. Pure. */
export function nextReplicaSetStatus(owner: ReplicaSet, observed: ReplicaSetObservation): ReplicaSetStatus | undefined {
  const { active, terminating, now } = observed;
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  const template = labelSelectorFromSet(owner.spec?.template?.metadata?.labels);
  const counts = {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => template.matches(metadata?.labels)).length,
    readyReplicas: active.filter(isPodReady).length,
    availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating.length }),
    observedGeneration: owner.metadata?.generation ?? 0,
  };
  const conditions = nextConditions(owner, observed);
  const before = owner.status ?? {};
  const unchanged =
    Object.entries(counts).every(
      ([field, count]) =>
        (before[field as keyof typeof counts] ?? (field === 'terminatingReplicas' ? undefined : 0)) === count,
    ) && deepEqual(before.conditions ?? [], conditions);
  return unchanged ? undefined : { ...before, ...counts, conditions };
}

/** `ReplicaFailure` while pods cannot be created or deleted. The first failure stays until a sync succeeds. */
function nextConditions(
  { spec, status }: ReplicaSet,
  { active, failure, now }: ReplicaSetObservation,
): readonly Condition[] {
  const conditions = status?.conditions ?? [];
  const known = findCondition(conditions, 'ReplicaFailure');
  if (failure === undefined) return known === undefined ? conditions : conditions.filter((each) => each !== known);
  if (known !== undefined) return conditions;
  const reason = active.length < (spec?.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete';
  return withCondition(conditions, { type: 'ReplicaFailure', status: 'True', reason, message: failure }, now);
}
