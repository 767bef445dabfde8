import type { ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { FINALIZER_FOREGROUND } from '../../api/meta/object-meta.ts';
import type { Uid } from '../types/identity.ts';

/** The fields of a returned object that decisions need. */
export interface LiveObject {
  readonly uid: Uid;
  readonly name: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly ownerReferences: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly deleting: boolean;
}

export function liveObjectOf(metadata: ObjectMeta): LiveObject {
  return {
    uid: metadata.uid ?? '',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    ownerReferences: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    deleting: (metadata.deletionTimestamp ?? null) !== null,
  };
}

/** True for an owner that is being deleted, has the foreground finalizer, and so waits for its dependents. */
export function isWaiting(object: LiveObject): boolean {
  return object.deleting && object.finalizers.includes(FINALIZER_FOREGROUND);
}

/** True if the references are equal in every field and in order. An absent flag differs from a false one (deeply equal, COL-151). */
export function sameReferences(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return a.length === b.length && a.every((reference, i) => sameReference(reference, b[i]!));
}

function sameReference(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  );
}
