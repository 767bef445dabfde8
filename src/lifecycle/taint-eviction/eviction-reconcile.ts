import { type Pod, type Taint, type Toleration, tolerates } from '../pods/pod-object.ts';

type EvictionDecision =
  | { readonly verdict: 'stay'; readonly reason: 'gone' | 'terminating' | 'noTaint' | 'tolerated' }
  | { readonly verdict: 'wait'; readonly reason: 'toleratedForATime'; readonly untilMs: number }
  | { readonly verdict: 'evict'; readonly reason: 'notTolerated' | 'timeOver' };

/**
 * Decides whether a pod must leave its node (LIFE-182; `pkg/controller/tainteviction`). Only the first of several tolerations of one taint
 * counts, and only the shortest of several times.
 * @param since epoch ms at which the pod was first seen with these taints
 */
export function decideEviction(
  pod: Pod | undefined,
  { taints, since, now }: { readonly taints: readonly Taint[]; readonly since: number; readonly now: number },
): EvictionDecision {
  if (pod === undefined) return { verdict: 'stay', reason: 'gone' };
  if (pod.metadata?.deletionTimestamp) return { verdict: 'stay', reason: 'terminating' };
  const harsh = taints.filter(({ effect }) => effect === 'NoExecute');
  if (harsh.length === 0) return { verdict: 'stay', reason: 'noTaint' };
  const used: Toleration[] = [];
  for (const taint of harsh) {
    const first = (pod.spec?.tolerations ?? []).find((toleration) => tolerates(toleration, taint));
    if (first === undefined) return { verdict: 'evict', reason: 'notTolerated' };
    used.push(first);
  }
  const times = used
    .map(({ tolerationSeconds }) => tolerationSeconds)
    .filter((time) => time !== undefined && time !== null)
    .map(Number);
  if (times.length === 0) return { verdict: 'stay', reason: 'tolerated' };
  const until = since + Math.max(0, Math.min(...times)) * 1000;
  return until > now
    ? { verdict: 'wait', reason: 'toleratedForATime', untilMs: until }
    : { verdict: 'evict', reason: 'timeOver' };
}

/** The status patch of a pod before its deletion. */
export function evictionPatch({ metadata = {} }: Pod, at: string): object {
  const { uid, generation } = metadata;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: at,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return { metadata: { uid }, status: { conditions: [condition] } };
}
