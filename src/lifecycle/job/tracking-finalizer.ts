import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import { isInvalid, isObjectNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { controllerOf } from '../ownership/controller-reference.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { isJobFinished, isManagedByOthers, isTracked, type Job, TRACKING_FINALIZER } from './job.ts';

/**
 * True if a pod may lose the tracking finalizer without being counted, because no Job will count it (LIFE-353).
 * @param jobOf the cached Job of that namespace and name
 */
export function isBeyondCounting(pod: Pod, jobOf: (name: string) => Job | undefined): boolean {
  if (!isTracked(pod)) return false;
  const controller = controllerOf(pod);
  if (controller === undefined) return true;
  if (controller.kind !== 'Job' || !controller.apiVersion.startsWith('batch/')) return false;
  const job = jobOf(controller.name);
  if (job === undefined || job.metadata?.uid !== controller.uid) return true;
  return !isManagedByOthers(job) && isJobFinished(job);
}

/** Time since the deletion after which a pod that only this finalizer holds counts as stuck (LIFE-362). */
export const STUCK_AFTER_MS = 300_000;

/** True if only the tracking finalizer has held a terminating pod for {@link STUCK_AFTER_MS}. `now` is in epoch ms. */
export function isStuckByTracking({ metadata }: KubeObject, now: number): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata ?? {};
  const since = parseTime(deletionTimestamp ?? '');
  if (since === undefined || now - since < STUCK_AFTER_MS) return false;
  return finalizers.length === 1 && finalizers[0] === TRACKING_FINALIZER;
}

/** Removes the finalizer from exactly this pod. Undefined if the pod is gone or was replaced; any other refusal is thrown, for a retry (LIFE-820). */
export async function removeTracking(
  client: RestClient,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const { namespace = '', name = '', uid } = pod.metadata ?? {};
  const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } };
  const patch = { type: 'application/strategic-merge-patch+json', body } as const;
  try {
    return await client.patch<Pod>({ gvr: PODS, namespace, name }, patch, { signal });
  } catch (error) {
    if (isObjectNotFound(error, name) || isAnotherPod(error)) return undefined;
    throw error;
  }
}

/** True if the server refused the uid, because a pod of another uid has the name. */
function isAnotherPod(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
}
