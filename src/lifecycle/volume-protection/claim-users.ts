import type { KubeObject } from '../../api/meta/object-meta.ts';

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
  return volumes.some(({ name = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === claim.metadata?.name;
    return ephemeral !== undefined && isMadeFor(pod, name, claim) && !isGone(pod);
  });
}

/** The claim of an ephemeral volume is named after pod and volume, and belongs to the pod. */
function isMadeFor({ metadata = {} }: Pod, volume: string, claim: KubeObject): boolean {
  if (claim.metadata?.name !== `${metadata.name ?? ''}-${volume}`) return false;
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.uid === metadata.uid;
}

/** True if its node has finished with it. */
function isGone({ metadata }: Pod): boolean {
  return Boolean(metadata?.deletionTimestamp) && metadata?.deletionGracePeriodSeconds === 0;
}
