import type { FieldTexts } from './field-texts.ts';

/** Types that all groups share. */
export const META: FieldTexts = {
  'meta.ObjectMeta': {
    annotations: 'Keys and values for tools and people. They select nothing, and may be up to 256 KiB together.',
    // `kubectl explain` of a custom resource is compared with it in conformance (API-417).
    creationTimestamp:
      'CreationTimestamp is a timestamp representing the server time when this object was created. Read-only.',
    deletionGracePeriodSeconds: 'Seconds the object may still take to end once deletion has begun. Read-only.',
    deletionTimestamp:
      'Set when deletion was asked for. The object goes when its finalizers are gone and its grace period is over. Read-only.',
    finalizers:
      'Names of the parties that must finish before the object is removed. Each removes its own name; none can be added once deletion has begun.',
    generateName: 'Beginning of a name that the server completes with five random characters when name is empty.',
    generation: 'Counts the changes of what is wanted; status and metadata do not count. Read-only.',
    labels: 'Keys and values by which objects are selected, by Services, controllers and kubectl -l.',
    managedFields: 'Which manager set which fields, for server-side apply. Kept by the server.',
    name: 'Name of the object, unique for its kind and namespace. Cannot be changed.',
    namespace: 'Namespace of the object; empty for kinds at cluster scope. Cannot be changed.',
    ownerReferences:
      'Objects this one depends on. When all of them are gone, the garbage collector deletes it. At most one entry is the managing controller.',
    resourceVersion:
      'Version of the stored object. An update that names an older one is refused, so that no client overwrites a change that it has not seen.',
    selfLink: 'Not used any more.',
    uid: 'Identity of the object in time and space. Set by the server, never used again, also not for an object of the same name.',
  },
  'meta.OwnerReference': {
    apiVersion: 'Group and version of the owner, such as apps/v1.',
    blockOwnerDeletion:
      'When true, foreground deletion of the owner waits until this object is gone. Setting it needs the right to change finalizers of the owner.',
    controller: 'When true, the owner manages this object. At most one owner does.',
    kind: 'Kind of the owner.',
    name: 'Name of the owner, in the namespace of this object or at cluster scope.',
    uid: 'Identity of the owner; an owner of the same name with another uid does not count.',
  },
  'meta.ManagedFieldsEntry': {
    apiVersion: 'Version of the API in which the fields are named.',
    fieldsType: 'Format of the set of fields; FieldsV1 is the only one.',
    fieldsV1: 'The fields the manager set, as a tree of their names.',
    manager: 'Manager of the fields: the name a client gives as fieldManager, or the beginning of its user agent.',
    operation: 'How the fields were set: Apply by server-side apply, Update by anything else.',
    subresource: 'Subresource the fields were set through, such as status; empty for the object itself.',
    time: 'When the manager last changed its set of fields.',
  },
  'meta.LabelSelector': {
    matchExpressions: 'Conditions on labels, all of which must hold.',
    matchLabels: 'Labels the object must have, with exactly these values. An empty selector selects everything.',
  },
  'meta.LabelSelectorRequirement': {
    key: 'Key of the label the condition is about.',
    operator: 'In, NotIn, Exists or DoesNotExist.',
    values: 'Values to compare with; needed for In and NotIn, empty for the others.',
  },
  'meta.FieldSelectorRequirement': {
    key: 'Field the condition is about.',
    operator: 'In, NotIn, Exists or DoesNotExist.',
    values: 'Values to compare with; needed for In and NotIn, empty for the others.',
  },
  'meta.ListMeta': {
    continue: 'Given when there is more: the parameter continue of the request for the next page.',
    remainingItemCount: 'How many objects come after this page. Absent for lists with a selector.',
    resourceVersion: 'The state the list is of. A watch that starts here misses nothing.',
    selfLink: 'Not used any more.',
  },
  'meta.ListOptions': {
    allowWatchBookmarks: 'Events of type BOOKMARK are welcome; they show how far a quiet watch has come.',
    continue: 'Where to go on, from the metadata of the page before.',
    fieldSelector: 'Conditions on fields, such as metadata.name=a.',
    labelSelector: 'Conditions on labels, such as app=shop,tier!=test.',
    limit: 'The most objects wanted at once; continue names the place where the next page begins.',
    resourceVersion: 'State to list, or to watch from.',
    resourceVersionMatch: 'Whether a list is of exactly resourceVersion (Exact) or not older than that (NotOlderThan).',
    sendInitialEvents: 'A watch begins with all objects there are, followed by a bookmark.',
    timeoutSeconds: 'Seconds after which a watch ends.',
    watch: 'Changes as a stream, in the place of a list.',
  },
  'meta.DeleteOptions': {
    dryRun: 'All: go through everything, and delete nothing.',
    gracePeriodSeconds: 'Seconds the object is given to end; 0 removes it at once. The kind decides when it is absent.',
    ignoreStoreReadErrorWithClusterBreakingPotential:
      'Deletes an object that cannot be read, without regard for finalizers or preconditions. Needs a right of its own.',
    orphanDependents: 'Older form of propagationPolicy: true is Orphan, false is Background.',
    preconditions: 'Conditions that must hold for the deletion to happen; otherwise the answer is 409.',
    propagationPolicy:
      'Policy for dependents: Orphan leaves them, Background deletes them afterwards, Foreground deletes them first.',
  },
  'meta.Preconditions': {
    resourceVersion: 'Version the object must have.',
    uid: 'Identity the object must have, so that nothing newer of the same name is meant.',
  },
  'meta.Status': {
    code: 'HTTP status of the answer.',
    details: 'The object that the answer is about, and the single causes.',
    message: 'Description of the event for people.',
    reason: 'Cause in one word for programs, such as NotFound.',
    status: 'Success or Failure.',
  },
  'meta.StatusDetails': {
    causes: 'The single errors, such as every invalid field.',
    group: 'Group of the API of the object.',
    kind: 'Kind or resource of the object.',
    name: 'Name of the object.',
    retryAfterSeconds: 'Seconds to wait before the request is sent again.',
    uid: 'Identity of the object.',
  },
  'meta.StatusCause': {
    field: 'Path of the field the cause is about, such as spec.replicas.',
    message: 'Description of the error for people.',
    reason: 'Cause of the error for programs.',
  },
  'meta.WatchEvent': {
    object: 'The object after the change; before it, when it was deleted; a Status in the case of ERROR.',
    type: 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.',
  },
  'coordination.LeaseSpec': {
    acquireTime: 'When the holder of now got the lease.',
    holderIdentity: 'Holder of the lease; empty when nobody holds it.',
    leaseDurationSeconds: 'Seconds after the last renewal after which others may take the lease.',
    leaseTransitions: 'How often the lease went to another holder.',
    preferredHolder: 'The next wanted holder of the lease, where a strategy is set.',
    renewTime: 'When the holder last said that it is there.',
    strategy: 'How a coordinated election picks the holder.',
  },
  'core.ObjectReference': {
    apiVersion: 'Group and version of the object.',
    fieldPath: 'Part of the object that is meant, such as spec.containers{name}.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object.',
    resourceVersion: 'Version of the object that is meant.',
    uid: 'Identity of the object.',
  },
  'core.LocalObjectReference': { name: 'Name of an object in the same namespace.' },
  'core.TypedLocalObjectReference': {
    apiGroup: 'Group of the API of the object; absent for the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object, in the same namespace.',
  },
  'core.TypedObjectReference': {
    apiGroup: 'Group of the API of the object; absent for the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object; another one has to allow it by a ReferenceGrant.',
  },
  'core.SecretReference': { name: 'Name of the Secret.', namespace: 'Namespace of the Secret.' },
};

const EVENT = {
  action: 'Action on the object that was done or has failed.',
  related: 'A second object that has to do with it.',
  reason: 'Why, in one word for programs, such as FailedMount.',
  series: 'Set when the same happened again and again: how often, and when last.',
  type: 'Normal or Warning.',
};

export const EVENTS: FieldTexts = {
  'core.Event': {
    ...EVENT,
    count: 'How often it happened.',
    eventTime: 'When it first happened, with microseconds.',
    firstTimestamp: 'When it first happened.',
    involvedObject: 'The object it is about.',
    lastTimestamp: 'When it last happened.',
    message: 'Description of the event for people.',
    reportingComponent: 'The controller that reports, such as kubernetes.io/kubelet.',
    reportingInstance: 'Which of its instances reports.',
    source: 'The component that reports, in the older form.',
  },
  'core.EventSource': { component: 'The component that reports.', host: 'Node it runs on.' },
  'core.EventSeries': { count: 'How often it happened.', lastObservedTime: 'When it last happened.' },
  'events.EventSeries': { count: 'How often it happened.', lastObservedTime: 'When it last happened.' },
  'events.Event': {
    ...EVENT,
    deprecatedCount: 'How often it happened, for readers of the older form.',
    deprecatedFirstTimestamp: 'When it first happened, for readers of the older form.',
    deprecatedLastTimestamp: 'When it last happened, for readers of the older form.',
    deprecatedSource: 'Reporter of the event, for readers of the older form.',
    eventTime: 'When it first happened, with microseconds.',
    note: 'Description of the event for people.',
    regarding: 'The object it is about.',
    reportingController: 'The controller that reports, such as kubernetes.io/kubelet.',
    reportingInstance: 'Which of its instances reports.',
  },
};
