/** Every code of a finding, with its meaning. docs/stuck.md lists them all. */
export const explainCodes = {
  blockingSelfReference: 'The object owns itself with blockOwnerDeletion, and waits for itself.',
  blockingCycle: 'Objects that are being deleted in foreground wait for each other.',
  invalidAgainstSchema: 'The server refuses every write of the object, because it does not fit its schema.',
  ownerVersionNotServed: 'A reference names its owner in a version that is not served any more.',
  ownerKindGone:
    'The kind of an owner is not served: its definition was deleted while no collector ran, or its server is gone.',
  namespacedOwner: 'A cluster-scoped object names a namespaced owner.',
  crossNamespaceOwner: 'A reference names an owner in another namespace.',
  admissionWebhookFailing: 'An admission webhook does not answer, and its failure policy refuses the write.',
  conversionWebhookFailing: 'The conversion webhook of a definition does not answer.',
  groupDiscoveryFailing: 'The kinds of an API group are unknown, so that a namespace cannot be emptied.',
  controllerRecreatesDependents: 'A controller makes new dependents while their owner waits for the old ones.',
  finalizerWithoutController: 'A finalizer waits, and nothing that is alive was found that removes it.',
  namespaceContentRemaining: 'A namespace waits for objects that are still in it.',
  podOnDeadNode: 'A pod waits for a node that does not answer or does not exist.',
  claimInUse: 'A claim is protected while pods use it.',
  volumeBound: 'A volume is protected while a claim is bound to it.',
  evictionRequested: 'The pod is being evicted, and waits for whoever handles that.',
} as const;

export type ExplainCode = keyof typeof explainCodes;
