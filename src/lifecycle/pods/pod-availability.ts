import { findCondition } from '../../api/meta/conditions.ts';
import { parseTime } from '../../api/meta/time.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodFinished, isPodReady, type Pod } from './pod-object.ts';

/** True if the pod is neither finished nor terminating (`controller_utils.go` `IsPodActive`). */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !isTerminating(pod);
}

/** Epoch ms of the last change of condition Ready; undefined when it has none. */
export function podReadySince(pod: Pod): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'Ready');
  return condition?.lastTransitionTime ? parseTime(condition.lastTransitionTime) : undefined;
}

/** Ms until the pod will have been ready for `minReadySeconds`; 0 if it is available, undefined if it is not ready. */
function podAvailableIn(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const since = podReadySince(pod);
  if (since === undefined) return undefined;
  return Math.max(0, since + minReadySeconds * 1000 - now);
}

export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return podAvailableIn(pod, minReadySeconds, now) === 0;
}

/** Ms until the next of the pods becomes available; undefined if none waits for that. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const waits = pods
    .map((pod) => podAvailableIn(pod, minReadySeconds, now))
    .filter((wait) => wait !== undefined && wait > 0);
  return waits.length === 0 ? undefined : Math.min(...(waits as number[]));
}
