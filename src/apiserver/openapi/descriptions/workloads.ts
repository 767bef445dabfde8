import type { FieldTexts } from './field-texts.ts';

const SELECTOR = 'Pods it counts as its own. Must fit the labels of the template; cannot be changed.';
const TEMPLATE = 'Pattern of the pods.';
const MIN_READY = 'Seconds a new pod must have been ready without a crash before it counts as available.';
const HISTORY = 'Old revisions to keep for going back; 10 unless set.';
const COLLISIONS = 'How often the name of a revision was taken and another had to be made.';
const READY = 'Pods that are ready.';
const AVAILABLE = 'Pods that have been ready for minReadySeconds.';
const MAX_UNAVAILABLE = 'How many pods may be missing during an update, as a number or a percentage.';
const MAX_SURGE = 'How many pods there may be above what is wanted during an update, as a number or a percentage.';
const ROLLING_UPDATE = 'Settings for type RollingUpdate.';

export const WORKLOADS: FieldTexts = {
  'apps.DeploymentSpec': {
    minReadySeconds: MIN_READY,
    paused: 'Changes of the template are not rolled out while it is true.',
    progressDeadlineSeconds:
      'Seconds without progress after which the roll-out counts as failed; 600 unless set. Nothing is rolled back.',
    replicas: 'Number of pods that are wanted; 1 unless set.',
    revisionHistoryLimit: HISTORY,
    selector: SELECTOR,
    strategy: 'How pods are replaced when the template changes.',
    template: `${TEMPLATE} A change of it starts a roll-out. restartPolicy must be Always.`,
  },
  'apps.DeploymentStatus': {
    availableReplicas: AVAILABLE,
    collisionCount: COLLISIONS,
    readyReplicas: READY,
    replicas: 'Pods of all its ReplicaSets that are not being deleted.',
    terminatingReplicas: 'Pods that are being deleted.',
    unavailableReplicas: 'Pods that are missing for what is wanted: not there, or not yet available.',
    updatedReplicas: 'Pods made from the template of now.',
  },
  'apps.DeploymentStrategy': {
    rollingUpdate: ROLLING_UPDATE,
    type: 'RollingUpdate replaces pods little by little, Recreate ends the old ones first.',
  },
  'apps.RollingUpdateDeployment': {
    maxSurge: `${MAX_SURGE} Rounded up; 25% unless set.`,
    maxUnavailable: `${MAX_UNAVAILABLE} Rounded down; 25% unless set.`,
  },
  'apps.ReplicaSetSpec': {
    minReadySeconds: MIN_READY,
    replicas: 'Number of pods that are wanted; 1 unless set.',
    selector: SELECTOR,
    template: `${TEMPLATE} A change of it concerns only pods made afterwards.`,
  },
  'apps.ReplicaSetStatus': {
    availableReplicas: AVAILABLE,
    fullyLabeledReplicas: 'Pods that have all the labels of the template.',
    readyReplicas: READY,
    replicas: 'Pods that are there.',
    terminatingReplicas: 'Pods that are being deleted.',
  },
  'core.ReplicationControllerSpec': {
    minReadySeconds: MIN_READY,
    replicas: 'Number of pods that are wanted; 1 unless set.',
    selector: 'Labels of the pods it counts as its own; those of the template unless set.',
    template: TEMPLATE,
  },
  'core.ReplicationControllerStatus': {
    availableReplicas: AVAILABLE,
    fullyLabeledReplicas: 'Pods that have all the labels of the template.',
    readyReplicas: READY,
    replicas: 'Pods that are there.',
  },
  'apps.StatefulSetSpec': {
    minReadySeconds: MIN_READY,
    ordinals: 'Which numbers the pods have.',
    persistentVolumeClaimRetentionPolicy:
      'Policy for the claims when the set or a pod is deleted. Without it they stay.',
    podManagementPolicy: 'OrderedReady makes and removes pods one after the other, Parallel all at once.',
    replicas: 'Number of pods that are wanted; 1 unless set.',
    revisionHistoryLimit: HISTORY,
    selector: SELECTOR,
    serviceName: 'Service without a cluster address under which each pod has a name of its own. Cannot be changed.',
    template: `${TEMPLATE} They are called after the set and their number, such as db-0.`,
    updateStrategy: 'How pods are replaced when the template changes.',
    volumeClaimTemplates: 'Claims that each pod has for itself and finds again when it is replaced.',
  },
  'apps.StatefulSetStatus': {
    availableReplicas: AVAILABLE,
    collisionCount: COLLISIONS,
    currentReplicas: 'Pods of currentRevision.',
    currentRevision: 'Revision that the update began with.',
    readyReplicas: READY,
    replicas: 'Pods that are there.',
    updateRevision: 'Revision that the update leads to.',
    updatedReplicas: 'Pods of updateRevision.',
  },
  'apps.StatefulSetUpdateStrategy': {
    rollingUpdate: ROLLING_UPDATE,
    type: 'RollingUpdate replaces pods from the highest number down, OnDelete only those that somebody deletes.',
  },
  'apps.RollingUpdateStatefulSetStrategy': {
    maxUnavailable: `${MAX_UNAVAILABLE} 1 unless set.`,
    partition: 'Only pods with this number and above are updated.',
  },
  'apps.StatefulSetOrdinals': { start: 'Number of the first pod; 0 unless set.' },
  'apps.StatefulSetPersistentVolumeClaimRetentionPolicy': {
    whenDeleted:
      'When the set is deleted: Retain keeps the claims, Delete removes them with the pods, by owner references.',
    whenScaled: 'When the set gets smaller: Retain keeps the claims of pods that go, Delete removes them.',
  },
  'apps.DaemonSetSpec': {
    minReadySeconds: MIN_READY,
    revisionHistoryLimit: HISTORY,
    selector: SELECTOR,
    template: `${TEMPLATE} One runs on each node that its node selector and tolerations allow.`,
    updateStrategy: 'How pods are replaced when the template changes.',
  },
  'apps.DaemonSetStatus': {
    collisionCount: COLLISIONS,
    currentNumberScheduled: 'Nodes that run a pod and should.',
    desiredNumberScheduled: 'Nodes that should run a pod.',
    numberAvailable: 'Nodes whose pod has been ready for minReadySeconds.',
    numberMisscheduled: 'Nodes that run a pod and should not.',
    numberReady: 'Nodes whose pod is ready.',
    numberUnavailable: 'Nodes that should run a pod and have none that is available.',
    updatedNumberScheduled: 'Nodes whose pod is made from the template of now.',
  },
  'apps.DaemonSetUpdateStrategy': {
    rollingUpdate: ROLLING_UPDATE,
    type: 'RollingUpdate replaces pods little by little, OnDelete only those that somebody deletes.',
  },
  'apps.RollingUpdateDaemonSet': {
    maxSurge: 'On how many nodes the new pod may run beside the old one; 0 unless set.',
    maxUnavailable: 'On how many nodes the pod may be missing during an update; 1 unless set.',
  },
  'apps.ControllerRevision': {
    data: 'The state that is kept. Cannot be changed.',
    revision: 'Number of the revision; the greatest is the newest.',
  },
  'apps.DeploymentCondition': { lastUpdateTime: 'When the condition was last written.' },
  'batch.JobSpec': {
    activeDeadlineSeconds: 'Seconds after which the job is ended as failed.',
    backoffLimit: 'Failed pods after which the job has failed; 6 unless set.',
    backoffLimitPerIndex: 'Failed pods of one index after which that index has failed.',
    completionMode: 'NonIndexed: any success counts. Indexed: each number from 0 to completions-1 has to succeed once.',
    completions: 'Pods that have to succeed. Absent: one success is enough, and no further pods are made.',
    managedBy: 'Controller that manages the job, when it is not the one of Kubernetes. Cannot be changed.',
    manualSelector: 'The selector is given by hand. Rarely right: it has to be unique.',
    maxFailedIndexes: 'Failed indexes after which the job has failed.',
    parallelism: 'Pods that may run at once; 1 unless set. 0 pauses the job.',
    podFailurePolicy: 'Meaning of a failed pod for the job, by exit code or condition.',
    podReplacementPolicy:
      'When a pod is replaced: TerminatingOrFailed (as soon as it is being deleted) or Failed (when it has ended).',
    selector: 'Pods it counts as its own; made by the server.',
    successPolicy: 'When the job has succeeded before all indexes have.',
    suspend: 'No pods run while it is true; those that do are deleted.',
    template: 'Pattern of the pods; restartPolicy must be Never or OnFailure.',
    ttlSecondsAfterFinished: 'Seconds from the finish of the job to its deletion, with its pods. Absent: never.',
  },
  'batch.JobStatus': {
    active: 'Pods that run or wait, without those that are being deleted.',
    completedIndexes: 'Indexes that have succeeded, such as 1,3-5.',
    completionTime: 'When the job succeeded.',
    conditions: 'Complete, Failed, Suspended and others.',
    failed: 'Pods that have failed.',
    failedIndexes: 'Indexes that have failed, such as 1,3-5.',
    ready: 'Pods that run and are ready.',
    startTime: 'When the job was started, or resumed.',
    succeeded: 'Pods that have succeeded.',
    terminating: 'Pods that are being deleted.',
    uncountedTerminatedPods: 'Pods that have ended and are not yet counted, so that none is counted twice.',
  },
  'batch.UncountedTerminatedPods': { failed: 'Uids of pods that failed.', succeeded: 'Uids of pods that succeeded.' },
  'batch.PodFailurePolicy': { rules: 'Rules in order; the first that fits decides.' },
  'batch.PodFailurePolicyRule': {
    action: 'FailJob, FailIndex, Ignore (does not count) or Count.',
    onExitCodes: 'Exit codes the rule is for.',
    onPodConditions: 'Conditions of the pod the rule is for; one has to fit.',
  },
  'batch.PodFailurePolicyOnExitCodesRequirement': {
    containerName: 'Container whose exit code is meant; any of them unless set.',
    operator: 'In or NotIn.',
    values: 'Exit codes to compare with.',
  },
  'batch.PodFailurePolicyOnPodConditionsPattern': {
    status: 'Status the condition must have; True unless set.',
    type: 'Type of the condition, such as DisruptionTarget.',
  },
  'batch.SuccessPolicy': { rules: 'Rules in order; when one is met, the job has succeeded and its other pods end.' },
  'batch.SuccessPolicyRule': {
    succeededCount: 'How many indexes must have succeeded.',
    succeededIndexes: 'Which indexes must have succeeded, such as 0,2-4.',
  },
  'batch.CronJobSpec': {
    concurrencyPolicy: 'When the last Job still runs: Allow a second one, Forbid it, or Replace the first.',
    failedJobsHistoryLimit: 'Failed Jobs to keep; 1 unless set.',
    jobTemplate: 'Pattern of the Jobs.',
    schedule: 'When to run, in the form of cron: minute, hour, day of the month, month, day of the week.',
    startingDeadlineSeconds: 'Seconds by which a run may be late; later it counts as missed.',
    successfulJobsHistoryLimit: 'Succeeded Jobs to keep; 3 unless set.',
    suspend: 'No further runs while it is true; those that run go on.',
    timeZone: 'Time zone of the schedule, such as Europe/Berlin; that of the controller unless set.',
  },
  'batch.CronJobStatus': {
    active: 'Jobs that run.',
    lastScheduleTime: 'When a Job was last due.',
    lastSuccessfulTime: 'When a Job last succeeded.',
  },
  'batch.JobTemplateSpec': {
    metadata: 'Labels and annotations of the Jobs.',
    spec: 'Specification of the Jobs that are made.',
  },
  'autoscaling.ScaleSpec': { replicas: 'Number of replicas that are wanted.' },
  'autoscaling.ScaleStatus': {
    replicas: 'Replicas that are there.',
    selector: 'Selector of the pods, as text.',
  },
  'policy.PodDisruptionBudgetSpec': {
    maxUnavailable:
      'How many pods may be missing after an eviction, as a number or a percentage. Not together with minAvailable.',
    minAvailable: 'How many pods must be left after an eviction, as a number or a percentage.',
    selector: 'Pods the budget is for. Empty: all of the namespace.',
    unhealthyPodEvictionPolicy:
      'Whether pods that run without being ready may be evicted: IfHealthyBudget or AlwaysAllow.',
  },
  'policy.PodDisruptionBudgetStatus': {
    currentHealthy: 'Pods that are ready.',
    desiredHealthy: 'Pods that must stay ready.',
    disruptedPods: 'Pods whose eviction was granted and that are still there, with the time.',
    disruptionsAllowed: 'Evictions that are granted now.',
    expectedPods: 'Pods the budget counts with.',
  },
  'policy.Eviction': { deleteOptions: 'How the pod is to be deleted.' },
};
