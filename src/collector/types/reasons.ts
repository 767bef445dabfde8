/**
 * The reasons of the collector's actions: one closed catalogue for effects, decisions, answers, logs, Events, metrics and traces.
 * docs/reasons.md is this table (held by reasons.test.ts). Rows are those of COL-090.
 */
export const reasons = {
  /** Why an object was put into a queue. */
  queued: {
    virtualOwner: 'A reference names an owner that was not observed.',
    alternativeIdentity:
      'No object is at the coordinates read so far, but another reference to this uid names other coordinates.',
    observationLost: 'Its resource is no longer watched, which proves nothing about the object.',
    notListed: 'A list lacked it, which does not prove that it is gone.',
    historyReset: 'The server went back in time, so every absence must be proven again.',
    deletionTakenBack: 'The server went back to a time at which the object was not being deleted.',
    newsInDoubt:
      'A restored server may never show a write or read of it that the watch had not shown before an outage.',
    potentiallyInvalid: 'One of its references does not match the owner with that uid.',
    ownerKnownAbsent: 'One of its references names an owner that is known to be gone.',
    ownerGone: 'One of its owners is gone.',
    ownerStartsWaiting: 'One of its owners began to wait for its dependents.',
    startsWaiting: 'It began to wait for its dependents.',
    referenceDropped: 'It lost a reference, and a remaining owner is gone or waits.',
    dependentReleased: 'A dependent that blocked it is gone, or no longer blocks it.',
    startsOrphaning: 'It began to wait for its dependents to be orphaned.',
    blocksOwner: 'An owner that waits for it was processed.',
    deletionsResumed: 'Its deletion was held by a limit, and somebody agreed to go on.',
    waitingListed: 'A list showed that it waits, and what happened before the list is not known.',
    changedUnseen:
      'A list showed that it changed and has an owner that is missing, waits or does not match, or that a waiting owner changed; the events before the list are unknown.',
  },
  /** Why an absence is remembered, and why it is forgotten. */
  absence: {
    objectGone: 'The object is gone, and others refer to it.',
    coordinatesAbsent: 'No object is at these coordinates.',
    objectSeen: 'An object with this uid was observed.',
    objectQuestioned: 'The existence of an object with this uid must be verified again.',
  },
  /** Reasons of Events, in the spelling of Kubernetes. */
  events: {
    VanishedObjectsNotBelieved:
      'So many objects of a kind vanished from one list that nothing is deleted because of it until a second list has confirmed it.',
    DeletionsHeld: 'So many objects were deleted within a minute that no more are deleted until somebody agrees.',
    OwnerRefInvalidNamespace: 'A reference names an owner in another namespace, which is not valid.',
    DependentsOrphaned:
      'The owner was deleted with policy Orphan: its dependents are orphaned, also those that appear later.',
    OrphanedOwnerReferenceReleased:
      'A dependent appeared after its owner was deleted with policy Orphan, and its reference was removed.',
  },
  /** Why discovery is read before its time. */
  discovery: {
    definitionChanged: 'A definition of resources was created, changed or deleted, or all were listed.',
    unknownKind: 'A reference names an unknown kind.',
    pathNotFound: 'A path from discovery does not exist.',
  },
  /** The decision about an object. */
  decided: {
    goneFromGraph: 'The object is no longer in the ownership graph.',
    virtualEntryOutdated: 'It was queued when it was known only from a reference, and has been observed since.',
    alreadyTerminating: 'The object is already being deleted and does not wait for dependents.',
    endNotShownYet: 'The server has accepted its deletion, and its watch has not shown that yet.',
    kindUnknown: 'The server does not serve the kind of the object.',
    namespaceUnknown: 'The kind is namespaced, but the object is known only from a cluster-scoped dependent.',
    objectAbsent: 'The server proved that the object does not exist.',
    objectReplaced: 'Another object has the name; the one with this uid does not exist.',
    absentButShown: 'A read says that the object does not exist, but its watch still shows it.',
    objectUnreadable:
      'The read of the object failed, or the object may be in another resource of its kind, so nothing is proven.',
    factsKeptChanging: 'The object or its references kept changing while it was processed.',
    noOwners: 'The object has no owner reference.',
    ownerKindUnknown: 'The server does not serve the kind of an owner, so nothing about that owner can be proven.',
    ownerUnreadable:
      'The read of an owner failed, or the owner may be in another resource of its kind, so nothing is proven.',
    namespacedOwnerOfClusterScoped:
      'A cluster-scoped object refers to an owner of a namespaced kind, which is invalid.',
    solidOwner: 'An owner exists and does not wait for its dependents.',
    orphanedReferencesReleased:
      'All of its owners were deleted with policy Orphan, so the references are removed and the object stays.',
    solidOwnerReferencesRemoved: 'An owner exists; references to absent and waiting owners are removed.',
    ownerWaitsCycle:
      'An owner waits and a dependent waits too, so the cycle is opened and the object deleted in foreground.',
    ownerWaitsHasDependents:
      'An owner waits for this object, which has dependents of its own, so it is deleted in foreground.',
    ownerWaits: 'An owner waits for this object, and no other owner is solid.',
    ownersAbsent: 'None of its owners exists.',
    noBlockingDependents: 'No dependent blocks the object any more, so the foregroundDeletion finalizer is removed.',
    waitingCycle: 'The object waits for dependents that wait for it, so its own references stop blocking.',
    blockedByDependents: 'Dependents that block the object still exist.',
    notBeingDeleted: 'The object is no longer being deleted, so its dependents stay unchanged.',
    dependentsNotReleased: 'The reference of at least one dependent could not be removed.',
    ignoredResource: 'The resource is ignored, so no other decision would remove the finalizer.',
    ownerOrphaned: 'Its owner is deleted with policy Orphan, so the reference to it is removed.',
    dependentsReleased: 'No dependent refers to the object, so the orphan finalizer is removed.',
  },
  /** The result of a write. */
  answered: {
    deleteAccepted: 'The server accepted the delete.',
    deletionHeld: 'The delete was not sent, because a limit of deletions per minute is reached.',
    deleteConflict: 'The object changed between the decision and the delete, each time it was decided anew.',
    writeRejected: 'The write was refused, or got no answer.',
    patchAccepted: 'The server accepted the patch.',
    patchNotNeeded: 'The reference is already gone, or another object has the name.',
    referencesObjectChanged: 'The object changed since the patch of its references was decided.',
    patchedObjectChanged: 'The object changed while the cycle was opened.',
    finalizerAlreadyRemoved: 'The finalizer is already removed.',
    finalizerObjectChanged: 'The object changed since the removal of its finalizer was decided.',
    finalizerConflictsExhausted: 'Removing the finalizer met a conflict at every attempt.',
  },
} as const;

export type QueueReason = keyof typeof reasons.queued;
export type AbsenceReason = keyof typeof reasons.absence;
export type EventReason = keyof typeof reasons.events;
export type DiscoveryReason = keyof typeof reasons.discovery;
/** The reason of a decision, or of the result of its write. */
export type Reason = keyof typeof reasons.decided | keyof typeof reasons.answered;
export type AnyReason = QueueReason | AbsenceReason | EventReason | DiscoveryReason | Reason;

const sentences = Object.assign({}, ...Object.values(reasons)) as Readonly<Record<AnyReason, string>>;

/** The reason as an English sentence. */
export function sentenceOf(reason: AnyReason): string {
  return sentences[reason];
}
