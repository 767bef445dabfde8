import {
  FINALIZER_FOREGROUND,
  FINALIZER_ORPHAN,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
} from '../../../src/api/meta/object-meta.ts';
import { isNamespacedKind } from './simulated-kinds.ts';

/** An object as the store has it. */
export interface KnownObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly metadata: ObjectMeta;
}

export function knownObject(value: Uint8Array): KnownObject {
  const object = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()) as KubeObject;
  const { apiVersion = '', kind = '', metadata = {} } = object;
  const { name = '', namespace = '', uid = '' } = metadata;
  return { apiVersion, kind, name, namespace, uid, metadata };
}

export function show({ kind, namespace, name, uid }: KnownObject): string {
  return `${kind} ${namespace}/${name} (${uid})`;
}

export function has(object: KnownObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

export function isTerminating({ metadata }: KnownObject): boolean {
  return Boolean(metadata.deletionTimestamp);
}

/** Being deleted, and waits for its dependents. */
export function isWaiting(object: KnownObject): boolean {
  return isTerminating(object) && has(object, FINALIZER_FOREGROUND);
}

/** True if the object is being deleted, and its dependents are to be orphaned. */
export function isOrphaning(object: KnownObject): boolean {
  return isTerminating(object) && has(object, FINALIZER_ORPHAN);
}

/** A cluster-scoped object with an owner of a namespaced kind is never touched (COL-113). */
export function isOutOfReach({ namespace, metadata }: KnownObject): boolean {
  return namespace === '' && (metadata.ownerReferences ?? []).some(({ kind }) => isNamespacedKind(kind));
}

/** Everything there is, by key of the store. */
export class StoredObjects {
  readonly #objects = new Map<string, KnownObject>();
  readonly #byUid = new Map<string, KnownObject>();

  get(key: string): KnownObject | undefined {
    return this.#objects.get(key);
  }

  set(key: string, object: KnownObject): void {
    this.#forget(key);
    this.#objects.set(key, object);
    this.#byUid.set(object.uid, object);
  }

  delete(key: string): void {
    this.#forget(key);
    this.#objects.delete(key);
  }

  values(): Iterable<KnownObject> {
    return this.#objects.values();
  }

  withUid(uid: string): KnownObject | undefined {
    return this.#byUid.get(uid);
  }

  /** Returns the owner that a reference of this dependent names exactly (COL-110). */
  owner(dependent: KnownObject, { uid, name, kind, apiVersion }: OwnerReference): KnownObject | undefined {
    const owner = this.#byUid.get(uid);
    if (owner === undefined || owner.name !== name || owner.kind !== kind || owner.apiVersion !== apiVersion) {
      return undefined;
    }
    return owner.namespace === '' || owner.namespace === dependent.namespace ? owner : undefined;
  }

  copy(): StoredObjects {
    const copy = new StoredObjects();
    for (const [key, object] of this.#objects) copy.set(key, object);
    return copy;
  }

  /** From now on there is what the other one has, and nothing else. */
  become(other: StoredObjects): void {
    this.#objects.clear();
    this.#byUid.clear();
    for (const [key, object] of other.#objects) this.set(key, object);
  }

  #forget(key: string): void {
    const before = this.#objects.get(key);
    if (before !== undefined) this.#byUid.delete(before.uid);
  }
}
