/**
 * Our own words for what people look up most. Everything else is described from the facts of the type table
 * (`field-description.ts`).
 */

/** By type name. */
export const TYPE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'api/apps/v1.ControllerRevision': 'A snapshot of the state a DaemonSet or StatefulSet can go back to.',
  'api/apps/v1.DaemonSet': 'Runs one copy of a pod on every node that fits.',
  'api/apps/v1.Deployment': 'Runs replaceable copies of a pod and rolls out changes to them.',
  'api/apps/v1.DeploymentSpec': 'What a Deployment should run, and how changes are rolled out.',
  'api/apps/v1.ReplicaSet': 'Keeps a number of copies of a pod running.',
  'api/apps/v1.StatefulSet': 'Runs copies of a pod that keep their names and volumes.',
  'api/autoscaling/v1.Scale': 'The number of replicas of something that can be scaled.',
  'api/autoscaling/v2.HorizontalPodAutoscaler': 'Changes the number of replicas of a workload by metrics.',
  'api/batch/v1.CronJob': 'Creates Jobs on a schedule.',
  'api/batch/v1.Job': 'Runs pods until enough of them have succeeded.',
  'api/coordination/v1.Lease': 'A claim that its holder renews; the base of leader election and node heartbeats.',
  'api/core/v1.ConfigMap': 'Configuration as keys and values, for pods to read.',
  'api/core/v1.Container': 'One container of a pod.',
  'api/core/v1.Endpoints': 'Addresses behind a Service, in the older form.',
  'api/core/v1.Event': 'A report of something that happened to an object.',
  'api/core/v1.LimitRange': 'Bounds and defaults for what pods of a namespace may ask for.',
  'api/core/v1.Namespace': 'A space of names; deleting it deletes everything in it.',
  'api/core/v1.Node': 'A machine that runs pods.',
  'api/core/v1.PersistentVolume': 'Storage that exists in the cluster.',
  'api/core/v1.PersistentVolumeClaim': 'A request for storage, bound to a PersistentVolume.',
  'api/core/v1.Pod': 'Containers that run together on one node.',
  'api/core/v1.PodSpec': 'What a pod should run.',
  'api/core/v1.PodStatus': 'What a pod was last seen doing.',
  'api/core/v1.PodTemplateSpec': 'The pattern of the pods a controller creates.',
  'api/core/v1.ReplicationController': 'The older form of ReplicaSet.',
  'api/core/v1.ResourceQuota': 'Bounds for what a namespace may use in total.',
  'api/core/v1.Secret': 'Confidential data as keys and values, for pods to read.',
  'api/core/v1.Service': 'One address for a changing set of pods.',
  'api/core/v1.ServiceAccount': 'An identity for the processes in a pod.',
  'api/discovery/v1.EndpointSlice': 'A part of the addresses behind a Service.',
  'api/networking/v1.Ingress': 'Rules by which HTTP from outside reaches Services.',
  'api/networking/v1.NetworkPolicy': 'Rules about which traffic pods accept and send.',
  'api/policy/v1.PodDisruptionBudget': 'How many pods of a set may be evicted at once.',
  'api/rbac/v1.ClusterRole': 'A set of permissions for the whole cluster.',
  'api/rbac/v1.ClusterRoleBinding': 'Grants a ClusterRole in the whole cluster.',
  'api/rbac/v1.Role': 'A set of permissions inside a namespace.',
  'api/rbac/v1.RoleBinding': 'Grants a Role or ClusterRole inside a namespace.',
  'api/scheduling/v1.PriorityClass': 'A named priority for pods.',
  'api/storage/v1.StorageClass': 'A kind of storage that can be claimed.',
  'apiextensions-apiserver/pkg/apis/apiextensions/v1.CustomResourceDefinition':
    'Adds a kind of object to the API; deleting it deletes all objects of the kind.',
  'apimachinery/pkg/apis/meta/v1.DeleteOptions': 'How an object is to be deleted.',
  'apimachinery/pkg/apis/meta/v1.LabelSelector': 'Chooses objects by their labels; all conditions must hold.',
  'apimachinery/pkg/apis/meta/v1.ListMeta': 'Metadata of a list.',
  'apimachinery/pkg/apis/meta/v1.ObjectMeta': 'Metadata that every stored object has.',
  'apimachinery/pkg/apis/meta/v1.OwnerReference':
    'Names an owner in the same namespace or at cluster scope. An object whose owners are all gone is deleted.',
  'apimachinery/pkg/apis/meta/v1.Status': 'The answer of a request that returns no object.',
  'apimachinery/pkg/apis/meta/v1.WatchEvent': 'One change seen by a watch.',
};

/** By type name and field. The entry `*` is for the field of that name in any type that has none of its own. */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': {
    apiVersion: 'Group and version of the API the object is written in, such as apps/v1.',
    kind: 'Name of the type of the object, such as Deployment.',
    metadata: 'Name, labels, owners and other metadata.',
    spec: 'What is wanted.',
    status: 'What was last seen. Written by controllers.',
    items: 'Required. The objects of the list.',
  },
  'apimachinery/pkg/apis/meta/v1.ObjectMeta': {
    annotations: 'Keys and values for tools and people; they select nothing.',
    creationTimestamp: 'When the server created the object. Read-only.',
    deletionGracePeriodSeconds: 'Seconds the object may still take to end once deletion has begun. Read-only.',
    deletionTimestamp:
      'Set when deletion was asked for; the object goes when its finalizers are gone and its grace period is over. Read-only.',
    finalizers:
      'Names of the parties that must finish before the object is removed, each value once. Each removes its own name; none can be added once deletion has begun.',
    generateName: 'Beginning of a name that the server completes when name is empty.',
    generation: 'Counts the changes of what is wanted. Read-only.',
    labels: 'Keys and values by which objects are selected.',
    managedFields: 'Which manager set which fields. Kept by the server.',
    name: 'Name of the object, unique for its kind and namespace. Cannot be changed.',
    namespace: 'Namespace of the object; empty for kinds at cluster scope. Cannot be changed.',
    ownerReferences:
      'Objects this one depends on, one entry per uid. When all owners are gone, the object is deleted by the garbage collector.',
    resourceVersion: 'Version of the stored object. An update that names an older one is refused.',
    selfLink: 'Not used any more.',
    uid: 'Identity of the object in time and space. Set by the server, never used again.',
  },
  'apimachinery/pkg/apis/meta/v1.OwnerReference': {
    apiVersion: 'Required. API version of the owner.',
    blockOwnerDeletion: 'When true, foreground deletion of the owner waits until this object is gone.',
    controller: 'When true, the owner manages this object. At most one owner does.',
    kind: 'Required. Kind of the owner.',
    name: 'Required. Name of the owner.',
    uid: 'Required. Identity of the owner; an owner of the same name with another uid does not count.',
  },
  'apimachinery/pkg/apis/meta/v1.DeleteOptions': {
    gracePeriodSeconds: 'Seconds the object is given to end; 0 removes it at once.',
    orphanDependents: 'Older form of propagationPolicy: true is Orphan, false is Background.',
    preconditions: 'What must hold for the deletion to happen.',
    propagationPolicy:
      'What becomes of dependents: Orphan leaves them, Background deletes them afterwards, Foreground deletes them first.',
  },
  'apimachinery/pkg/apis/meta/v1.Preconditions': {
    resourceVersion: 'Resource version the object must have.',
    uid: 'Identity the object must have.',
  },
  'api/core/v1.PodSpec': {
    containers: 'Required. Containers of the pod, one entry per name. Strategic merge patch merges by name.',
    initContainers:
      'Containers that run before the others, in order, one entry per name. Strategic merge patch merges by name.',
    nodeName: 'Node the pod runs on; set by the scheduler.',
    restartPolicy: 'When containers are started again: Always, OnFailure or Never.',
    serviceAccountName: 'Service account the pod runs as.',
    terminationGracePeriodSeconds: 'Seconds the containers are given to end when the pod is deleted.',
    volumes: 'Volumes the containers can mount, one entry per name. Strategic merge patch merges by name.',
  },
  'api/core/v1.Container': {
    args: 'Arguments of the entry point, set as a whole.',
    command: 'Entry point that replaces the one of the image, set as a whole.',
    env: 'Environment variables, one entry per name. Strategic merge patch merges by name.',
    image: 'Image to run.',
    imagePullPolicy: 'When the image is fetched: Always, IfNotPresent or Never.',
    name: 'Required. Name of the container, unique in its pod.',
    ports:
      'Ports the container listens on, one entry per containerPort and protocol. Strategic merge patch merges by containerPort.',
    resources: 'What the container is granted and may use at most.',
    volumeMounts:
      'Where volumes appear in the container, one entry per mountPath. Strategic merge patch merges by mountPath.',
  },
};

/** Types without fields, by their name in the type table. */
export const SPECIAL_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Time: 'A time as RFC 3339 text in whole seconds, such as 2026-01-02T03:04:05Z.',
  MicroTime: 'A time as RFC 3339 text with six digits of fraction.',
  Quantity: 'An amount with an optional unit: 500m, 2, 1.5Gi, 1e3.',
  IntOrString: 'A whole number or a text.',
  RawExtension: 'An object whose type the field does not fix.',
  FieldsV1: 'A set of fields, as a tree of field names.',
  JSON: 'Any JSON value.',
  JSONSchemaPropsOrArray: 'A schema, or a list of schemas.',
  JSONSchemaPropsOrBool: 'A schema, or true or false.',
  JSONSchemaPropsOrStringArray: 'A schema, or a list of texts.',
};
