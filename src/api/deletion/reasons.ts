/**
 * The reason for the effect of a DELETE, or of an update that completes a deletion. The set is closed: metrics use the word as a label,
 * explain prints the sentence, and tests enumerate it.
 */
export const DELETE_REASONS = {
  // refuse
  invalidOptions: 'The delete options contradict each other or name something unknown.',
  uidMismatch: 'The uid given as a precondition is not that of the object; it may have been recreated.',
  resourceVersionMismatch: 'The resourceVersion given as a precondition is not that of the object; it was modified.',
  namespaceProtected: 'This namespace belongs to the cluster itself and may not be deleted.',
  // remove
  noFinalizers: 'No finalizer holds the object, so it is removed at once.',
  garbageCollectionFinalizersDropped:
    'Only the finalizers of an earlier or default policy held the object, and this policy drops them.',
  gracePeriodZero: 'The grace period is zero and no finalizer holds the object, so it is removed at once.',
  // update
  waitsForFinalizers: 'The object is terminating and stays until its finalizers are gone.',
  waitsForOrphaning: 'The object is terminating and stays until the collector has released its dependents.',
  waitsForDependents: 'The object is terminating and stays until its blocking dependents are gone.',
  policySwitched: 'The object was terminating already; this policy changed what it waits for.',
  gracePeriodStarted: 'The object has its grace period to shut down; whoever runs it removes it afterwards.',
  gracePeriodShortened: 'The object was shutting down already; its grace period became shorter.',
  gracePeriodWaived: 'The grace period is over, but finalizers still hold the object.',
  deletionTimestampReached: 'The object was to be deleted in the future; now it is terminating.',
  namespaceTerminating: 'The namespace is terminating and stays until its content is gone.',
  definitionTerminating: 'The definition is terminating and stays until the objects it defines are gone.',
  // unchanged
  alreadyTerminating: 'The object is terminating already and this request changes nothing.',
  gracePeriodNotShorter: 'The object is shutting down already and a grace period can only become shorter.',
  namespaceContentRemains: 'The namespace is terminating already and its content is not yet gone.',
} as const;

export type DeleteReason = keyof typeof DELETE_REASONS;
