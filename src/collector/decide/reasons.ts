/**
 * Why a decision was what it was: one closed catalogue for logs, metrics, events, `explain` and the console. Rows are
 * those of COL-090.
 */
export const reasons = {
  // Delete processing, COL-090.
  goneFromGraph: 'The object is no longer in the ownership graph.',
  virtualEntryOutdated: 'It was queued when only known from a reference and has been observed since.',
  alreadyTerminating: 'The object is already being deleted and does not wait for dependents.',
  kindUnknown: 'The server does not serve the kind of the object.',
  namespaceUnknown: 'The kind is namespaced, but the object is only known from a cluster-scoped dependent.',
  objectAbsent: 'The server proved that the object does not exist.',
  objectReplaced: 'Another object has taken the name; the one with this uid does not exist.',
  objectUnreadable: 'Reading the object failed, which proves nothing.',
  noOwners: 'The object refers to no owner.',
  ownerKindUnknown: 'The server does not serve the kind of an owner, so nothing about that owner can be proved.',
  ownerUnreadable: 'Reading an owner failed, which proves nothing.',
  namespacedOwnerOfClusterScoped:
    'A cluster-scoped object refers to an owner of a namespaced kind, which is not valid.',
  solidOwner: 'An owner exists and does not wait for its dependents.',
  solidOwnerReferencesRemoved: 'An owner exists; references to absent and waiting owners are removed.',
  ownerWaitsCycle: 'An owner waits and a dependent waits too: a cycle is opened, then deleted in foreground.',
  ownerWaitsHasDependents: 'An owner waits for this object, which has dependents of its own: deleted in foreground.',
  ownerWaits: 'An owner waits for this object and none of its owners stays.',
  ownersAbsent: 'None of its owners exists.',
  // Foreground processing, section 7.
  noBlockingDependents: 'No dependent blocks the object any more; the foregroundDeletion finalizer is removed.',
  waitingCycle: 'The object waits for dependents that wait for it; its own references stop blocking.',
  blockedByDependents: 'Dependents that block the object still exist.',
  // Orphan processing, section 9.
  dependentsNotReleased: 'The reference of at least one dependent could not be removed.',
  dependentsReleased: 'No dependent refers to the object; the orphan finalizer is removed.',
  // Answers to writes, section 12.
  deleteAccepted: 'The server accepted the delete.',
  deleteConflict: 'The references changed between the decision and the delete.',
  deleteConflictUnrelated: 'The object changed, but its references did not: deleted by uid alone.',
  writeRejected: 'The server rejected the write.',
  patchAccepted: 'The server accepted the patch.',
  patchNotNeeded: 'The reference is already gone, or another object has taken the name.',
  patchedReferencesChanged: 'The references changed while the cycle was opened.',
  finalizerAlreadyRemoved: 'The finalizer is not there any more.',
  finalizerConflictsExhausted: 'Removing the finalizer met a conflict at every attempt.',
} as const;

export type Reason = keyof typeof reasons;

export function sentenceOf(reason: Reason): string {
  return reasons[reason];
}
