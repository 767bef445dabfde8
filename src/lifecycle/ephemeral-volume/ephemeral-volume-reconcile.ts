import type { KubeObject } from '../../api/meta/object-meta.ts';
import { controllerReference, isControlledBy, isTerminating } from '../ownership/controller-reference.ts';
import { isPodFinished, type Pod } from '../pods/pod-object.ts';
import { ephemeralClaimName } from '../volume-protection/claim-users.ts';

const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };

interface EphemeralVolume {
  readonly name?: string;
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: {
      readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
      readonly spec?: object;
    };
  };
}

type EphemeralDecision =
  | { readonly verdict: 'create'; readonly claim: KubeObject }
  /** A foreign claim has the name. */
  | { readonly verdict: 'conflict'; readonly message: string };

/** The generic ephemeral volumes of a pod. */
export function ephemeralVolumes(pod: Pod): readonly EphemeralVolume[] {
  const volumes = (pod.spec?.['volumes'] ?? []) as readonly EphemeralVolume[];
  return volumes.filter(({ ephemeral }) => ephemeral?.volumeClaimTemplate !== undefined);
}

/**
 * The claims that a pod lacks (LIFE-700): one for each generic ephemeral volume, named after pod and volume, owned by the pod. A pod that
 * is terminating or finished gets none; the collector deletes them with the pod.
 */
export function decideEphemeralVolumes(
  pod: Pod | undefined,
  claimOf: (name: string) => KubeObject | undefined,
): readonly EphemeralDecision[] {
  if (pod === undefined || isTerminating(pod) || isPodFinished(pod)) return [];
  return ephemeralVolumes(pod).flatMap((volume): EphemeralDecision[] => {
    const name = ephemeralClaimName(pod, volume);
    const there = claimOf(name);
    if (there === undefined) return [{ verdict: 'create', claim: claimFor(pod, name, volume) }];
    if (isControlledBy(there, pod)) return [];
    const { namespace = '', name: podName = '' } = pod.metadata ?? {};
    const message = `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`;
    return [{ verdict: 'conflict', message }];
  });
}

function claimFor(pod: Pod, name: string, { ephemeral }: EphemeralVolume): KubeObject {
  const { metadata = {}, spec = {} } = ephemeral?.volumeClaimTemplate ?? {};
  const { namespace = '' } = pod.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [controllerReference(POD_KIND, pod)],
    },
    spec,
  };
}
