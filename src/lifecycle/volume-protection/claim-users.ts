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
 * Whether a pod uses a claim of its namespace (LIFE-152, upstream `pkg/controller/volume/pvcprotection`): it has a node and a volume
 * that names the claim, whatever its phase. A pod that was not scheduled protects no claim.
 */
export function usesClaim(pod: Pod, claim: KubeObject): boolean {
  const { nodeName = '', volumes = [] } = pod.spec ?? {};
  if (nodeName === '') return false;
  return volumes.some(({ name = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === claim.metadata?.name;
    return ephemeral !== undefined && isMadeFor(pod, name, claim) && !isGone(pod);
  });
}

/** A claim that a pod brings along has a name made of both, and belongs to the pod. */
function isMadeFor({ metadata = {} }: Pod, volume: string, claim: KubeObject): boolean {
  if (claim.metadata?.name !== `${metadata.name ?? ''}-${volume}`) return false;
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.uid === metadata.uid;
}

/** Its node has finished with it. */
function isGone({ metadata }: Pod): boolean {
  return Boolean(metadata?.deletionTimestamp) && metadata?.deletionGracePeriodSeconds === 0;
}
