import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isPodFinished } from '../pods/pod-object.ts';

interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: unknown;
}

interface Pod extends KubeObject {
  spec?: { readonly nodeName?: string; readonly volumes?: readonly Volume[] };
}

/**
 * True if a pod uses a claim of its namespace (LIFE-152, upstream `pkg/controller/volume/pvcprotection`): it has a node and a volume that
 * names the claim, in any phase. An unscheduled pod protects no claim.
 */
export function usesClaim(pod: Pod, claim: KubeObject): boolean {
  const { nodeName = '', volumes = [] } = pod.spec ?? {};
  if (nodeName === '') return false;
  return volumes.some((volume) => hasClaim(pod, volume, claim) && (volume.ephemeral === undefined || !isGone(pod)));
}

/** True if the pod keeps a terminating claim: it uses it, and has not finished where finished pods keep none (LIFE-155). */
export function keepsClaim(
  pod: Pod,
  claim: KubeObject,
  { ignoreFinishedPods }: { readonly ignoreFinishedPods: boolean },
): boolean {
  return usesClaim(pod, claim) && !(ignoreFinishedPods && isPodFinished(pod));
}

/** True if a volume of the pod, on a node or not, is the claim of its namespace (LIFE-156). */
export function namesClaim(pod: Pod, claim: KubeObject): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => hasClaim(pod, volume, claim));
}

/** Names of the claims that a pod may use: those that its volumes name, and those of its ephemeral volumes. */
export function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const { persistentVolumeClaim, ephemeral } = volume;
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName ?? ''];
    return ephemeral === undefined ? [] : [ephemeralClaimName(pod, volume)];
  });
}

/** The claim of a generic ephemeral volume is named after pod and volume. */
export function ephemeralClaimName(pod: KubeObject, volume: { readonly name?: string }): string {
  return `${pod.metadata?.name ?? ''}-${volume.name ?? ''}`;
}

function hasClaim(pod: Pod, volume: Volume, claim: KubeObject): boolean {
  const { persistentVolumeClaim, ephemeral } = volume;
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === claim.metadata?.name;
  return ephemeral !== undefined && isMadeFor(pod, volume, claim);
}

/** The claim of an ephemeral volume belongs to the pod. */
function isMadeFor(pod: Pod, volume: Volume, claim: KubeObject): boolean {
  if (claim.metadata?.name !== ephemeralClaimName(pod, volume)) return false;
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.uid === pod.metadata?.uid;
}

/** True if its node has finished with it. */
function isGone({ metadata }: Pod): boolean {
  return Boolean(metadata?.deletionTimestamp) && metadata?.deletionGracePeriodSeconds === 0;
}
