import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';

/** The kind of an owner for references and Events. */
export interface OwnerKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The one owner reference with `controller: true`. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** True if the owner with this uid controls the object. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata?.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** The reference on objects that a controller creates or adopts (apimachinery `NewControllerRef`). */
export function controllerReference({ apiVersion, kind }: OwnerKind, owner: KubeObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata ?? {};
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The object has a deletion timestamp. */
export function isTerminating({ metadata }: KubeObject): boolean {
  return (metadata?.deletionTimestamp ?? '') !== '';
}
