/**
 * Closed sets of values, by type and field, in upstream's order (`pkg/apis` validation). An empty value counts as absent; other checks
 * decide whether it is required.
 */
const CORE = 'api/core/v1';
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const NODE_POLICIES = ['Honor', 'Ignore'];
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];
const PREEMPTION_POLICIES = ['Never', 'PreemptLowerPriority'];
const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const ADMISSION = 'api/admissionregistration/v1';

const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  [`${CORE}.PodSpec/restartPolicy`]: ['Always', 'OnFailure', 'Never'],
  [`${CORE}.PodSpec/dnsPolicy`]: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  [`${CORE}.PodSpec/preemptionPolicy`]: PREEMPTION_POLICIES,
  [`${CORE}.Container/imagePullPolicy`]: PULL_POLICIES,
  [`${CORE}.Container/terminationMessagePolicy`]: MESSAGE_POLICIES,
  [`${CORE}.EphemeralContainer/imagePullPolicy`]: PULL_POLICIES,
  [`${CORE}.EphemeralContainer/terminationMessagePolicy`]: MESSAGE_POLICIES,
  [`${CORE}.Container/restartPolicy`]: ['Always', 'Never', 'OnFailure'],
  [`${CORE}.HTTPGetAction/scheme`]: ['HTTP', 'HTTPS'],
  [`${CORE}.HostPathVolumeSource/type`]: [
    '',
    'BlockDevice',
    'CharDevice',
    'Directory',
    'DirectoryOrCreate',
    'File',
    'FileOrCreate',
    'Socket',
  ],
  [`${CORE}.PodSecurityContext/fsGroupChangePolicy`]: ['Always', 'OnRootMismatch'],
  [`${CORE}.PodSecurityContext/seLinuxChangePolicy`]: ['MountOption', 'Recursive'],
  [`${CORE}.PodSecurityContext/supplementalGroupsPolicy`]: ['Merge', 'Strict'],
  [`${CORE}.SecurityContext/procMount`]: ['Default', 'Unmasked'],
  [`${CORE}.SeccompProfile/type`]: PROFILE_TYPES,
  [`${CORE}.AppArmorProfile/type`]: PROFILE_TYPES,
  [`${CORE}.TopologySpreadConstraint/nodeAffinityPolicy`]: NODE_POLICIES,
  [`${CORE}.TopologySpreadConstraint/nodeTaintsPolicy`]: NODE_POLICIES,
  [`${CORE}.ContainerPort/protocol`]: PROTOCOLS,
  [`${CORE}.ServicePort/protocol`]: PROTOCOLS,
  [`${CORE}.EndpointPort/protocol`]: PROTOCOLS,
  [`${CORE}.Toleration/operator`]: ['Equal', 'Exists'],
  [`${CORE}.Toleration/effect`]: TAINT_EFFECTS,
  [`${CORE}.Taint/effect`]: TAINT_EFFECTS,
  [`${CORE}.ServiceSpec/type`]: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
  [`${CORE}.ServiceSpec/internalTrafficPolicy`]: ['Cluster', 'Local'],
  [`${CORE}.ServiceSpec/ipFamilyPolicy`]: ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
  [`${CORE}.ServiceSpec/sessionAffinity`]: ['ClientIP', 'None'],
  [`${CORE}.PersistentVolumeSpec/accessModes`]: ACCESS_MODES,
  [`${CORE}.PersistentVolumeSpec/persistentVolumeReclaimPolicy`]: ['Delete', 'Recycle', 'Retain'],
  [`${CORE}.PersistentVolumeSpec/volumeMode`]: VOLUME_MODES,
  [`${CORE}.PersistentVolumeClaimSpec/accessModes`]: ACCESS_MODES,
  [`${CORE}.PersistentVolumeClaimSpec/volumeMode`]: VOLUME_MODES,
  'api/apps/v1.DeploymentStrategy/type': ['Recreate', 'RollingUpdate'],
  'api/apps/v1.DaemonSetUpdateStrategy/type': ['RollingUpdate', 'OnDelete'],
  'api/batch/v1.CronJobSpec/concurrencyPolicy': ['Allow', 'Forbid', 'Replace'],
  'api/batch/v1.JobSpec/completionMode': ['Indexed', 'NonIndexed'],
  'api/batch/v1.JobSpec/podReplacementPolicy': ['Failed', 'TerminatingOrFailed'],
  'api/networking/v1.NetworkPolicySpec/policyTypes': ['Egress', 'Ingress'],
  'api/networking/v1.NetworkPolicyPort/protocol': PROTOCOLS,
  'api/networking/v1.HTTPIngressPath/pathType': ['Exact', 'ImplementationSpecific', 'Prefix'],
  'api/policy/v1.PodDisruptionBudgetSpec/unhealthyPodEvictionPolicy': ['AlwaysAllow', 'IfHealthyBudget'],
  'api/rbac/v1.RoleRef/apiGroup': ['rbac.authorization.k8s.io'],
  'api/rbac/v1.Subject/kind': ['ServiceAccount', 'User', 'Group'],
  'api/discovery/v1.EndpointSlice/addressType': ['FQDN', 'IPv4', 'IPv6'],
  'api/discovery/v1.EndpointPort/protocol': PROTOCOLS,
  'api/scheduling/v1.PriorityClass/preemptionPolicy': PREEMPTION_POLICIES,
  'api/storage/v1.StorageClass/reclaimPolicy': ['Delete', 'Retain'],
  'api/storage/v1.StorageClass/volumeBindingMode': ['Immediate', 'WaitForFirstConsumer'],
  [`${ADMISSION}.MutatingWebhook/failurePolicy`]: FAILURE_POLICIES,
  [`${ADMISSION}.MutatingWebhook/matchPolicy`]: MATCH_POLICIES,
  [`${ADMISSION}.MutatingWebhook/sideEffects`]: SIDE_EFFECTS,
  [`${ADMISSION}.MutatingWebhook/reinvocationPolicy`]: ['IfNeeded', 'Never'],
  [`${ADMISSION}.ValidatingWebhook/failurePolicy`]: FAILURE_POLICIES,
  [`${ADMISSION}.ValidatingWebhook/matchPolicy`]: MATCH_POLICIES,
  [`${ADMISSION}.ValidatingWebhook/sideEffects`]: SIDE_EFFECTS,
  [`${ADMISSION}.Rule/scope`]: SCOPES,
  [`${ADMISSION}.RuleWithOperations/scope`]: SCOPES,
};

/** Undefined for a field that allows any value. */
export function supportedValues(typeName: string, field: string): readonly string[] | undefined {
  return SUPPORTED[`${typeName}/${field}`];
}

/** `<type>/<field>` of every closed set; a test compares them with the type table. */
export function fieldsWithSupportedValues(): readonly string[] {
  return Object.keys(SUPPORTED);
}
