/** The reason of an object's outcome: the closed catalogue of codes in a plan (CAS-091). `docs/cascade.md` lists them. */
export const planReasons = {
  requested: 'A person asks for it.',
  refused: 'The server refuses to delete it.',
  ownersAbsent: 'None of its owners is left.',
  ownerWaits: 'Its owner is deleted in the foreground and waits for it.',
  namespaceEmptied: 'Its namespace is deleted.',
  definitionDeleted: 'The definition of its kind is deleted.',
  volumeReleased: 'Its claim is deleted, and its reclaim policy is Delete.',
  nodeRemoved: 'Its node is deleted.',
  alreadyTerminating: 'It was being deleted already.',
  finalizer: 'It waits until a finalizer is removed.',
  usedByPods: 'It waits until the pods that use it are gone.',
  gracePeriod: 'It waits until its node has shut it down.',
  blockedByDependents: 'It waits for dependents that block it.',
  contentRemains: 'It waits until what is left in it is gone.',
  podsFirst: 'It is deleted when the pods of its namespace are gone.',
  discoveryFails: 'The server cannot say which kinds it serves, and the namespace waits for that.',
  ownerOrphaned: 'Its owner is deleted with policy Orphan.',
  otherOwner: 'Another owner stays.',
  referenceInvalid: 'It is cluster-scoped and names an owner of a namespaced kind, which proves nothing.',
  ownerKindUnknown: 'The kind of an owner is not served, so that nothing about that owner can be proved.',
  ownerUnreadable: 'The kind of an owner could not be read.',
  resourceUnread: 'A kind that matters here could not be read.',
  nothingFreesIt: 'Nothing that is known will free it.',
} as const;

export type PlanReason = keyof typeof planReasons;
