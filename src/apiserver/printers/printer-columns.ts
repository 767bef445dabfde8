import {
  admissionPolicyBindingColumns,
  mutatingAdmissionPolicyColumns,
  validatingAdmissionPolicyColumns,
  webhookConfigurationColumns,
} from './columns/admission-columns.ts';
import { apiServiceColumns } from './columns/api-service-columns.ts';
import { horizontalPodAutoscalerColumns, horizontalPodAutoscalerV1Columns } from './columns/autoscaler-columns.ts';
import {
  certificateSigningRequestColumns,
  clusterTrustBundleColumns,
  podCertificateRequestColumns,
} from './columns/certificate-columns.ts';
import {
  componentStatusColumns,
  configMapColumns,
  nameAndAgeColumns,
  namespaceColumns,
  resourceQuotaColumns,
  secretColumns,
} from './columns/core-columns.ts';
import {
  deviceTaintRuleColumns,
  resourceClaimColumns,
  resourcePoolStatusRequestColumns,
  resourceSliceColumns,
} from './columns/device-columns.ts';
import { podDisruptionBudgetColumns } from './columns/disruption-budget-columns.ts';
import { coreEventColumns, eventsEventColumns } from './columns/event-columns.ts';
import { flowSchemaColumns, priorityLevelColumns } from './columns/flow-control-columns.ts';
import { cronJobColumns, jobColumns } from './columns/job-columns.ts';
import { leaseCandidateColumns, leaseColumns } from './columns/lease-columns.ts';
import {
  ingressClassColumns,
  ingressColumns,
  ipAddressColumns,
  networkPolicyColumns,
  serviceCidrColumns,
} from './columns/network-columns.ts';
import { nodeColumns } from './columns/node-columns.ts';
import { podColumns, podTemplateColumns } from './columns/pod-columns.ts';
import { roleBindingColumns } from './columns/role-binding-columns.ts';
import { podGroupColumns, priorityClassColumns, runtimeClassColumns } from './columns/scheduling-columns.ts';
import { endpointSliceColumns, endpointsColumns, serviceColumns } from './columns/service-columns.ts';
import { statusColumns } from './columns/status-columns.ts';
import { storageVersionColumns, storageVersionMigrationColumns } from './columns/storage-version-columns.ts';
import {
  csiDriverColumns,
  csiNodeColumns,
  csiStorageCapacityColumns,
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  storageClassColumns,
  volumeAttachmentColumns,
  volumeAttributesClassColumns,
} from './columns/volume-columns.ts';
import {
  controllerRevisionColumns,
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  replicationControllerColumns,
  scaleColumns,
  statefulSetColumns,
} from './columns/workload-columns.ts';
import type { PrinterColumn } from './cells/printer-column.ts';
import { column, CREATED_DESCRIPTION, nameColumn } from './cells/printer-column.ts';

/**
 * Columns of the built-in kinds. Keys are `group/Kind`, or `group/version/Kind` if versions keep their fields in different places; the
 * longer key wins. A kind without an entry has {@link defaultColumns}.
 */
const COLUMNS: Readonly<Record<string, readonly PrinterColumn[]>> = {
  '/ComponentStatus': componentStatusColumns,
  '/ConfigMap': configMapColumns,
  '/Endpoints': endpointsColumns,
  '/Event': coreEventColumns,
  '/Namespace': namespaceColumns,
  '/Node': nodeColumns,
  '/PersistentVolume': persistentVolumeColumns,
  '/PersistentVolumeClaim': persistentVolumeClaimColumns,
  '/Pod': podColumns,
  '/PodTemplate': podTemplateColumns,
  '/ReplicationController': replicationControllerColumns,
  '/ResourceQuota': resourceQuotaColumns,
  '/Secret': secretColumns,
  '/Service': serviceColumns,
  '/ServiceAccount': nameAndAgeColumns,
  '/Status': statusColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': mutatingAdmissionPolicyColumns,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': admissionPolicyBindingColumns,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookConfigurationColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyColumns,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': admissionPolicyBindingColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookConfigurationColumns,
  'apiregistration.k8s.io/APIService': apiServiceColumns,
  'apps/ControllerRevision': controllerRevisionColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerColumns,
  'autoscaling/Scale': scaleColumns,
  'autoscaling/v1/HorizontalPodAutoscaler': horizontalPodAutoscalerV1Columns,
  'batch/CronJob': cronJobColumns,
  'batch/Job': jobColumns,
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestColumns,
  'certificates.k8s.io/ClusterTrustBundle': clusterTrustBundleColumns,
  'certificates.k8s.io/PodCertificateRequest': podCertificateRequestColumns,
  'coordination.k8s.io/Lease': leaseColumns,
  'coordination.k8s.io/LeaseCandidate': leaseCandidateColumns,
  'discovery.k8s.io/EndpointSlice': endpointSliceColumns,
  'events.k8s.io/Event': eventsEventColumns,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaColumns,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelColumns,
  'internal.apiserver.k8s.io/StorageVersion': storageVersionColumns,
  'networking.k8s.io/IPAddress': ipAddressColumns,
  'networking.k8s.io/Ingress': ingressColumns,
  'networking.k8s.io/IngressClass': ingressClassColumns,
  'networking.k8s.io/NetworkPolicy': networkPolicyColumns,
  'networking.k8s.io/ServiceCIDR': serviceCidrColumns,
  'node.k8s.io/RuntimeClass': runtimeClassColumns,
  'policy/PodDisruptionBudget': podDisruptionBudgetColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBindingColumns,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingColumns,
  'resource.k8s.io/DeviceClass': nameAndAgeColumns,
  'resource.k8s.io/DeviceTaintRule': deviceTaintRuleColumns,
  'resource.k8s.io/ResourceClaim': resourceClaimColumns,
  'resource.k8s.io/ResourceClaimTemplate': nameAndAgeColumns,
  'resource.k8s.io/ResourcePoolStatusRequest': resourcePoolStatusRequestColumns,
  'resource.k8s.io/ResourceSlice': resourceSliceColumns,
  'scheduling.k8s.io/PodGroup': podGroupColumns,
  'scheduling.k8s.io/PriorityClass': priorityClassColumns,
  'scheduling.k8s.io/Workload': nameAndAgeColumns,
  'storage.k8s.io/CSIDriver': csiDriverColumns,
  'storage.k8s.io/CSINode': csiNodeColumns,
  'storage.k8s.io/CSIStorageCapacity': csiStorageCapacityColumns,
  'storage.k8s.io/StorageClass': storageClassColumns,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentColumns,
  'storage.k8s.io/VolumeAttributesClass': volumeAttributesClassColumns,
  'storagemigration.k8s.io/StorageVersionMigration': storageVersionMigrationColumns,
};

/** Kinds without an entry show their creation time, not their age (API-433). */
const defaultColumns: readonly PrinterColumn[] = [
  nameColumn(),
  {
    ...column('Created At', CREATED_DESCRIPTION, (object) => object.metadata?.creationTimestamp ?? null),
    type: 'date',
  },
];

export function printerColumnsFor(kind: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): readonly PrinterColumn[] {
  return (
    COLUMNS[`${kind.group}/${kind.version}/${kind.kind}`] ?? COLUMNS[`${kind.group}/${kind.kind}`] ?? defaultColumns
  );
}
