import type { KubeObject } from '../../meta/object-meta.ts';
import {
  defaultAdmissionPolicy,
  defaultAdmissionPolicyBinding,
  defaultMutatingWebhooks,
  defaultValidatingWebhooks,
} from './defaults-admission.ts';
import { defaultAutoscalerV1, defaultAutoscalerV2 } from './defaults-autoscaling.ts';
import { defaultCronJob, defaultJob } from './defaults-batch.ts';
import {
  defaultLimitRange,
  defaultNamespace,
  defaultNode,
  defaultPriorityClass,
  defaultResourceQuota,
  defaultRuntimeClass,
  defaultSecret,
} from './defaults-core.ts';
import { defaultApiService, defaultCustomResourceDefinition } from './defaults-extensions.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { defaultFlowSchema, defaultPriorityLevel } from './defaults-flowcontrol.ts';
import {
  defaultEndpoints,
  defaultEndpointSlice,
  defaultIngressClass,
  defaultNetworkPolicy,
  defaultService,
} from './defaults-network.ts';
import { defaultPod, defaultPodTemplate } from './defaults-pod.ts';
import { defaultRoleBinding } from './defaults-rbac.ts';
import { defaultResourceClaim, defaultResourceClaimTemplate } from './defaults-resource-claims.ts';
import {
  defaultCsiDriver,
  defaultPersistentVolume,
  defaultPersistentVolumeClaim,
  defaultStorageClass,
} from './defaults-storage.ts';
import {
  defaultDaemonSet,
  defaultDeployment,
  defaultReplicaSet,
  defaultReplicationController,
  defaultStatefulSet,
} from './defaults-workloads.ts';

/** Kinds that are not listed have no defaults. */
const DEFAULTERS: Readonly<Record<string, (object: Fields) => void>> = {
  'v1/Endpoints': defaultEndpoints,
  'v1/LimitRange': defaultLimitRange,
  'v1/Namespace': defaultNamespace,
  'v1/Node': defaultNode,
  'v1/PersistentVolume': defaultPersistentVolume,
  'v1/PersistentVolumeClaim': defaultPersistentVolumeClaim,
  'v1/Pod': defaultPod,
  'v1/PodTemplate': defaultPodTemplate,
  'v1/ReplicationController': defaultReplicationController,
  'v1/ResourceQuota': defaultResourceQuota,
  'v1/Secret': defaultSecret,
  'v1/Service': defaultService,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy': defaultAdmissionPolicy,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding': defaultAdmissionPolicyBinding,
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': defaultMutatingWebhooks,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': defaultAdmissionPolicy,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': defaultAdmissionPolicyBinding,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': defaultValidatingWebhooks,
  'apiextensions.k8s.io/v1/CustomResourceDefinition': defaultCustomResourceDefinition,
  'apiregistration.k8s.io/v1/APIService': defaultApiService,
  'apps/v1/DaemonSet': defaultDaemonSet,
  'apps/v1/Deployment': defaultDeployment,
  'apps/v1/ReplicaSet': defaultReplicaSet,
  'apps/v1/StatefulSet': defaultStatefulSet,
  'autoscaling/v1/HorizontalPodAutoscaler': defaultAutoscalerV1,
  'autoscaling/v2/HorizontalPodAutoscaler': defaultAutoscalerV2,
  'batch/v1/CronJob': defaultCronJob,
  'batch/v1/Job': defaultJob,
  'discovery.k8s.io/v1/EndpointSlice': defaultEndpointSlice,
  'flowcontrol.apiserver.k8s.io/v1/FlowSchema': defaultFlowSchema,
  'flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration': defaultPriorityLevel,
  'networking.k8s.io/v1/IngressClass': defaultIngressClass,
  'networking.k8s.io/v1/NetworkPolicy': defaultNetworkPolicy,
  'node.k8s.io/v1/RuntimeClass': defaultRuntimeClass,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': defaultRoleBinding,
  'rbac.authorization.k8s.io/v1/RoleBinding': defaultRoleBinding,
  'resource.k8s.io/v1/ResourceClaim': defaultResourceClaim,
  'resource.k8s.io/v1/ResourceClaimTemplate': defaultResourceClaimTemplate,
  'scheduling.k8s.io/v1/PriorityClass': defaultPriorityClass,
  'storage.k8s.io/v1/CSIDriver': defaultCsiDriver,
  'storage.k8s.io/v1/StorageClass': defaultStorageClass,
};

/**
 * Sets the defaults of a decoded object, in place (API-500, API-501). Idempotent. Nothing here depends on the clock, on other objects or on
 * chance; the registry allocates such values.
 */
export function applyDefaults(object: KubeObject, apiVersion: string, kind: string): void {
  DEFAULTERS[`${apiVersion}/${kind}`]?.(object);
}

/** The kinds that get labels from their name or their template. */
const LABELED: ReadonlySet<string> = new Set(['v1/Namespace', 'v1/ReplicationController', 'batch/v1/Job']);

/** True if {@link applyDefaults} may change the metadata of such an object. */
export function defaultsMetadata(apiVersion: string, kind: string): boolean {
  return LABELED.has(`${apiVersion}/${kind}`);
}

/** The kinds that have defaults, as `[apiVersion, kind]`. */
export function kindsWithDefaults(): readonly (readonly [apiVersion: string, kind: string])[] {
  return Object.keys(DEFAULTERS).map((key) => {
    const slash = key.lastIndexOf('/');
    return [key.slice(0, slash), key.slice(slash + 1)] as const;
  });
}
