import type { Severity } from '../documents/lint-report.ts';

/** Every code of lint, with its severity and meaning. docs/stuck.md lists them all. */
export const lintCodes = {
  danglingOwner: ['warning', 'An owner does not exist.'],
  staleOwnerUid: ['error', 'Another object has the name of an owner: the uid is stale.'],
  crossNamespaceOwner: ['error', 'An owner is in another namespace, which a collector takes for absent.'],
  namespacedOwner: ['error', 'A cluster-scoped object names a namespaced owner; a collector never decides about it.'],
  ownerIdentity: ['error', 'The uid of an owner belongs to an object of another kind or name.'],
  ownerKindNotServed: ['warning', 'The kind of an owner is not served; a collector never decides about the object.'],
  ownerUnknown: ['info', 'The kind of an owner could not be read.'],
  duplicateOwner: ['warning', 'Two references name the same owner.'],
  twoControllers: ['error', 'Two references say that they are the controller.'],
  selfOwner: ['error', 'An object owns itself.'],
  ownerCycle: ['error', 'Objects own each other in a cycle.'],
  deletedNow: ['error', 'No owner exists: a collector that starts deletes the object.'],
  terminatingLong: ['warning', 'An object has been terminating for long.'],
  missingOwnerField: ['error', 'A reference lacks apiVersion, kind, name or uid.'],
  uidInManifest: ['warning', 'A manifest names an owner by uid, which is another one in each cluster.'],
  blockOwnerDeletionRight: ['info', 'Writing the reference needs the right to update the finalizers of its owner.'],
} as const satisfies Readonly<Record<string, readonly [Severity, string]>>;

export type LintCode = keyof typeof lintCodes;
