import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';

/** The kind of an owner, as its controllers write it into references and events. */
export interface OwnerKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The one owner reference with `controller: true`. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** The object is controlled by the owner with this uid. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata?.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** The reference that a controller puts on what it makes or adopts (apimachinery `NewControllerRef`). */
export function controllerReference({ apiVersion, kind }: OwnerKind, owner: KubeObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata ?? {};
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The object has a deletion timestamp. */
export function isTerminating({ metadata }: KubeObject): boolean {
  return (metadata?.deletionTimestamp ?? '') !== '';
}
