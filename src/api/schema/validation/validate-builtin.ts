import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import type { ResourceInfo } from '../../kinds/resource-info.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import {
  validateCronJob,
  validateCronJobOnCreate,
  validateCronJobUpdate,
  validateJob,
  validateJobUpdate,
} from './validate-batch.ts';
import { validateConfigMap, validateConfigMapUpdate, validateSecret, validateSecretUpdate } from './validate-config.ts';
import { validateAutoscaler } from './validate-autoscaler.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt } from '../fields/defaults-fields.ts';
import { validatePod, validatePodOnCreate, validatePodTemplate } from './pods/validate-pod-spec.ts';
import {
  validateIngress,
  validateIngressClass,
  validateIngressClassUpdate,
  validateIngressOnCreate,
} from './validate-ingress.ts';
import { validateLimitRange } from './validate-limit-range.ts';
import { validateNetworkPolicy } from './validate-network-policy.ts';
import { validateResourceQuota, validateResourceQuotaUpdate } from './validate-quota.ts';
import {
  validateDisruptionBudget,
  validateEndpointSliceUpdate,
  validateLease,
  validatePriorityClass,
  validatePriorityClassUpdate,
  validateRuntimeClassUpdate,
  validateVolumeAttachmentUpdate,
} from './validate-policies.ts';
import { validateRole, validateRoleBinding, validateRoleBindingUpdate } from './validate-rbac.ts';
import { validateServiceUpdate } from './validate-service-addresses.ts';
import { validateService } from './validate-service.ts';
import { validateStructure } from './validate-structure.ts';
import {
  validatePersistentVolume,
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimUpdate,
  validatePersistentVolumeUpdate,
  validateStorageClassUpdate,
} from './validate-volumes.ts';
import {
  validateClaimTemplates,
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateReplicationController,
  validateSelectorUnchanged,
  validateStatefulSet,
  validateStatefulSetUpdate,
} from './validate-workloads.ts';

/** Checks of a kind beyond its structure. */
interface KindRules {
  /** Checks every state of the object. */
  readonly always?: (object: Fields) => FieldError[];
  readonly onCreate?: (object: Fields) => FieldError[];
  readonly onUpdate?: (next: Fields, previous: Fields) => FieldError[];
}

const AUTOSCALER: KindRules = { always: validateAutoscaler };
const ROLE_BINDING: KindRules = { always: validateRoleBinding, onUpdate: validateRoleBindingUpdate };

/** Rules by `<group>/<version>/<Kind>`. For pods, the registry's strategy decides by subresource which part of the spec may change. */
const RULES: Readonly<Record<string, KindRules>> = {
  '/v1/ConfigMap': { always: validateConfigMap, onUpdate: validateConfigMapUpdate },
  '/v1/LimitRange': { always: validateLimitRange },
  '/v1/PersistentVolume': { always: validatePersistentVolume, onUpdate: validatePersistentVolumeUpdate },
  '/v1/PersistentVolumeClaim': { always: validatePersistentVolumeClaim, onUpdate: validatePersistentVolumeClaimUpdate },
  '/v1/Pod': { always: validatePod, onCreate: validatePodOnCreate },
  '/v1/PodTemplate': { always: (object) => validatePodTemplate(objectAt(object, 'template'), 'template') },
  '/v1/ReplicationController': { always: validateReplicationController },
  '/v1/ResourceQuota': { always: validateResourceQuota, onUpdate: validateResourceQuotaUpdate },
  '/v1/Secret': { always: validateSecret, onUpdate: validateSecretUpdate },
  '/v1/Service': { always: validateService, onUpdate: validateServiceUpdate },
  'apps/v1/ControllerRevision': { onCreate: validateControllerRevision, onUpdate: validateControllerRevisionUpdate },
  'apps/v1/DaemonSet': { always: validateDaemonSet, onUpdate: validateSelectorUnchanged },
  'apps/v1/Deployment': { always: validateDeployment, onUpdate: validateSelectorUnchanged },
  'apps/v1/ReplicaSet': { always: validateReplicaSet, onUpdate: validateSelectorUnchanged },
  'apps/v1/StatefulSet': {
    always: validateStatefulSet,
    onCreate: validateClaimTemplates,
    onUpdate: validateStatefulSetUpdate,
  },
  'autoscaling/v1/HorizontalPodAutoscaler': AUTOSCALER,
  'autoscaling/v2/HorizontalPodAutoscaler': AUTOSCALER,
  'batch/v1/CronJob': {
    always: validateCronJob,
    onCreate: validateCronJobOnCreate,
    onUpdate: validateCronJobUpdate,
  },
  'batch/v1/Job': { always: validateJob, onUpdate: validateJobUpdate },
  'coordination.k8s.io/v1/Lease': { always: validateLease },
  'discovery.k8s.io/v1/EndpointSlice': { onUpdate: validateEndpointSliceUpdate },
  'networking.k8s.io/v1/Ingress': { always: validateIngress, onCreate: validateIngressOnCreate },
  'networking.k8s.io/v1/IngressClass': { always: validateIngressClass, onUpdate: validateIngressClassUpdate },
  'networking.k8s.io/v1/NetworkPolicy': { always: validateNetworkPolicy },
  'node.k8s.io/v1/RuntimeClass': { onUpdate: validateRuntimeClassUpdate },
  'policy/v1/PodDisruptionBudget': { always: validateDisruptionBudget },
  'rbac.authorization.k8s.io/v1/ClusterRole': { always: validateRole },
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': ROLE_BINDING,
  'rbac.authorization.k8s.io/v1/Role': { always: validateRole },
  'rbac.authorization.k8s.io/v1/RoleBinding': ROLE_BINDING,
  'scheduling.k8s.io/v1/PriorityClass': { onCreate: validatePriorityClass, onUpdate: validatePriorityClassUpdate },
  'storage.k8s.io/v1/StorageClass': { onUpdate: validateStorageClassUpdate },
  'storage.k8s.io/v1/VolumeAttachment': { onUpdate: validateVolumeAttachmentUpdate },
};

function rulesOf(info: ResourceInfo): KindRules {
  return RULES[`${info.group}/${info.version}/${info.kind}`] ?? {};
}

/** Findings for a new object, decoded and defaulted (API-502). Metadata is validated elsewhere. */
export function validateBuiltin(object: KubeObject, info: ResourceInfo): FieldError[] {
  const rules = rulesOf(info);
  const errors = validateState(object, info, rules);
  if (rules.onCreate !== undefined) append(errors, rules.onCreate(object));
  return distinct(errors);
}

/** Findings for a changed object: the checks of every state, and immutable fields. */
export function validateBuiltinUpdate(next: KubeObject, previous: KubeObject, info: ResourceInfo): FieldError[] {
  const rules = rulesOf(info);
  const errors = sharesContent(next, previous) ? [] : validateState(next, info, rules);
  // Finalizers and owner references may change even on an object that an older version accepted and that is invalid now.
  if (errors.length > 0 && repeatsContent(next, previous)) errors.length = 0;
  if (rules.onUpdate !== undefined) append(errors, rules.onUpdate(next, previous));
  return distinct(errors);
}

function repeatsContent(a: KubeObject, b: KubeObject): boolean {
  return deepEqual({ ...a, metadata: undefined, status: undefined }, { ...b, metadata: undefined, status: undefined });
}

/** True if all validated parts are identical, not just equal, as after a patch or a status update that does not touch them. */
function sharesContent(a: KubeObject, b: KubeObject): boolean {
  for (const key in a) if (key !== 'metadata' && key !== 'status' && a[key] !== b[key]) return false;
  for (const key in b) if (key !== 'status' && a[key] === undefined && b[key] !== undefined) return false;
  return true;
}

function validateState(object: KubeObject, info: ResourceInfo, rules: KindRules): FieldError[] {
  if (info.typeName === undefined) return [];
  const errors = validateStructure(object, info.typeName);
  if (rules.always !== undefined) append(errors, rules.always(object));
  return errors;
}

/** Structure and rules may report the same finding. */
function distinct(errors: FieldError[]): FieldError[] {
  if (errors.length < 2) return errors;
  const seen = new Set<string>();
  return errors.filter((error) => {
    const key = `${error.reason}|${error.field}|${error.message}`;
    return !seen.has(key) && seen.add(key);
  });
}
