import type { Int64 } from '../../../base/json/exact-json.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';

export interface ResourceRequirements {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

export interface VolumeMount {
  name: string;
  readOnly?: boolean;
  mountPath: string;
}

export interface EnvironmentSource {
  name?: string;
  valueFrom?: { secretKeyRef?: { name?: string } };
}

export interface Container {
  name?: string;
  resources?: ResourceRequirements;
  restartPolicy?: string;
  volumeMounts?: VolumeMount[];
  env?: readonly EnvironmentSource[];
  envFrom?: readonly { secretRef?: { name?: string } }[];
}

export interface Volume {
  name?: string;
  secret?: { secretName?: string };
  projected?: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  effect?: string;
  tolerationSeconds?: Int64;
}

/** The fields of a pod spec that admission reads. */
export interface PodSpec {
  /** Go writes the empty list as null. */
  containers?: Container[] | null;
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  tolerations?: Toleration[];
  imagePullSecrets?: { name?: string }[];
  automountServiceAccountToken?: boolean;
  serviceAccountName?: string;
  serviceAccount?: string;
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  activeDeadlineSeconds?: Int64;
  runtimeClassName?: string;
  overhead?: Record<string, string>;
  nodeSelector?: Record<string, string>;
  resources?: ResourceRequirements;
}

export interface Pod extends KubeObject {
  spec?: PodSpec;
}

/** True if a write is about pods themselves or about one of these subresources. */
export function isOfPods({ info, subresource }: AdmissionAttributes, ...subresources: readonly string[]): boolean {
  return info.group === '' && info.resource === 'pods' && (subresource === '' || subresources.includes(subresource));
}

/** The spec of the pod, created if it is absent so that it can be filled in. */
export function podSpecOf(pod: Pod): PodSpec {
  return (pod.spec ??= {});
}
