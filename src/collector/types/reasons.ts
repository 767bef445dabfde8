/**
 * Why the collector did what it did: one closed catalogue for effects, decisions, answers, logs, Events, metrics and traces.
 * docs/reasons.md is this table (held by reasons.test.ts). Rows are those of COL-090.
 */
export const reasons = {
  /** Why an object was put into a queue. */
  queued: {
    virtualOwner: 'A reference named an owner that has not been seen.',
    alternativeIdentity: 'Nothing is at the coordinates tried so far, but another reference to this uid names others.',
    observationLost: 'Its resource is not watched any more, which proves nothing.',
    notListed: 'A list lacked it, which does not prove that it is gone.',
    historyReset: 'The server went back in time, so that every absence is a question again.',
    deletionTakenBack: 'The server went back to a time at which the object was not being deleted.',
    newsInDoubt:
      'What was done about it, or read of it, was not shown yet when the server was away: one that was restored may never show it.',
    potentiallyInvalid: 'One of its references does not fit the owner of that uid.',
    ownerKnownAbsent: 'One of its references names an owner that is known to be gone.',
    ownerGone: 'One of its owners is gone.',
    ownerStartsWaiting: 'One of its owners began to wait for its dependents.',
    startsWaiting: 'It began to wait for its dependents.',
    referenceDropped: 'It lost a reference, and an owner that is left is gone or waits.',
    dependentReleased: 'A dependent it waits for is gone, or does not block it any more.',
    startsOrphaning: 'It began to wait for its dependents to be orphaned.',
    blocksOwner: 'An owner that waits for it was looked at.',
    deletionsResumed: 'Its deletion was held by a limit, and somebody agreed to go on.',
    waitingListed: 'A list showed that it waits, and what happened before the list is not known.',
    changedUnseen:
      'A list showed it changed, with an owner that is not there, waits or does not fit, or showed an owner that waits changed; what happened before is not known.',
  },
  /** What is remembered of absences, and why it is forgotten. */
  absence: {
    objectGone: 'The object is gone, and others refer to it.',
    coordinatesAbsent: 'Nothing is at these coordinates, whatever is at others.',
    objectSeen: 'An object with this uid was seen.',
    objectQuestioned: 'Whether an object with this uid exists is to be asked anew.',
  },
  /** Reasons of Events, in the spelling of Kubernetes. */
  events: {
    VanishedObjectsNotBelieved:
      'So many objects of a kind vanished from one list that nothing is deleted because of it until a second list has confirmed it.',
    DeletionsHeld: 'So many objects were deleted within a minute that no more are deleted until somebody agrees.',
    OwnerRefInvalidNamespace: 'A reference names an owner in another namespace, which is not valid.',
    DependentsOrphaned: 'The owner was deleted with policy Orphan: who refers to it is let go, also if it comes late.',
    OrphanedOwnerReferenceReleased:
      'A reference to an owner that was deleted with policy Orphan came late, and was removed.',
  },
  /** Why discovery is read before its time. */
  discovery: {
    definitionChanged: 'A definition of resources was created, changed or deleted, or all were listed.',
    unknownKind: 'A reference names a kind that is not known.',
    pathNotFound: 'A path that discovery had named does not exist.',
  },
  /** What a decision was about an object. */
  decided: {
    goneFromGraph: 'The object is no longer in the ownership graph.',
    virtualEntryOutdated: 'It was queued when only known from a reference and has been observed since.',
    alreadyTerminating: 'The object is already being deleted and does not wait for dependents.',
    endNotShownYet: 'The server has accepted its end, and its watch has not shown that yet.',
    kindUnknown: 'The server does not serve the kind of the object.',
    namespaceUnknown: 'The kind is namespaced, but the object is only known from a cluster-scoped dependent.',
    objectAbsent: 'The server proved that the object does not exist.',
    objectReplaced: 'Another object has taken the name; the one with this uid does not exist.',
    absentButShown: 'A read says that the object does not exist, and its watch shows it.',
    objectUnreadable:
      'Reading the object failed, or it may be in another resource of its kind than the one asked: that proves nothing.',
    factsKeptChanging: 'What the object is, or what it refers to, kept changing while it was looked at.',
    noOwners: 'The object refers to no owner.',
    ownerKindUnknown: 'The server does not serve the kind of an owner, so nothing about that owner can be proved.',
    ownerUnreadable:
      'Reading an owner failed, or it may be in another resource of its kind than the one asked: that proves nothing.',
    namespacedOwnerOfClusterScoped:
      'A cluster-scoped object refers to an owner of a namespaced kind, which is not valid.',
    solidOwner: 'An owner exists and does not wait for its dependents.',
    orphanedReferencesReleased:
      'All of its owners were deleted with policy Orphan: the references are removed, and it lives.',
    solidOwnerReferencesRemoved: 'An owner exists; references to absent and waiting owners are removed.',
    ownerWaitsCycle: 'An owner waits and a dependent waits too: a cycle is opened, then deleted in foreground.',
    ownerWaitsHasDependents: 'An owner waits for this object, which has dependents of its own: deleted in foreground.',
    ownerWaits: 'An owner waits for this object and none of its owners stays.',
    ownersAbsent: 'None of its owners exists.',
    noBlockingDependents: 'No dependent blocks the object any more; the foregroundDeletion finalizer is removed.',
    waitingCycle: 'The object waits for dependents that wait for it; its own references stop blocking.',
    blockedByDependents: 'Dependents that block the object still exist.',
    notBeingDeleted: 'The object is not being deleted any more: its dependents stay as they are.',
    dependentsNotReleased: 'The reference of at least one dependent could not be removed.',
    ignoredResource: 'The resource is ignored, so that nobody else would take the finalizer away.',
    ownerOrphaned: 'Its owner is deleted with policy Orphan: the reference to it is removed.',
    dependentsReleased: 'No dependent refers to the object; the orphan finalizer is removed.',
  },
  /** What came of a write. */
  answered: {
    deleteAccepted: 'The server accepted the delete.',
    deletionHeld: 'The delete was not sent, because a limit of deletions per minute is reached.',
    deleteConflict: 'The object changed between the decision and the delete, each time it was decided anew.',
    writeRejected: 'The write was refused, or got no answer.',
    patchAccepted: 'The server accepted the patch.',
    patchNotNeeded: 'The reference is already gone, or another object has taken the name.',
    referencesObjectChanged: 'The object changed since the patch of its references was decided.',
    patchedObjectChanged: 'The object changed while the cycle was opened.',
    finalizerAlreadyRemoved: 'The finalizer is not there any more.',
    finalizerObjectChanged: 'The object changed since the removal of its finalizer was decided.',
    finalizerConflictsExhausted: 'Removing the finalizer met a conflict at every attempt.',
  },
} as const;

export type QueueReason = keyof typeof reasons.queued;
export type AbsenceReason = keyof typeof reasons.absence;
export type EventReason = keyof typeof reasons.events;
export type DiscoveryReason = keyof typeof reasons.discovery;
/** Of a decision and of what came of it. */
export type Reason = keyof typeof reasons.decided | keyof typeof reasons.answered;
export type AnyReason = QueueReason | AbsenceReason | EventReason | DiscoveryReason | Reason;

const sentences = Object.assign({}, ...Object.values(reasons)) as Readonly<Record<AnyReason, string>>;

/** The reason as an English sentence. */
export function sentenceOf(reason: AnyReason): string {
  return sentences[reason];
}
