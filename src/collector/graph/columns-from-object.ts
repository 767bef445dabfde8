import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type OwnerReference } from '../../api/meta/object-meta.ts';
import type { ObservedObject } from './event.ts';
import {
  ObjectColumns,
  OWNER_API_VERSION_RANGE,
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_KIND_RANGE,
  OWNER_NAME_RANGE,
  OWNER_UID,
  OWNER_UID_IS_TEXT,
  OWNER_UID_RANGE,
} from './object-columns.ts';
import { TextScratch } from './text-scratch.ts';
import { UidWords } from './uid-words.ts';

/** Writes objects as columns, always the same ones: what it returned before is overwritten. */
export class ColumnsFromObject {
  readonly #columns = new ObjectColumns();
  readonly #scratch = new TextScratch();
  readonly #words = new UidWords();

  observed(object: ObservedObject): ObjectColumns {
    const columns = this.identity(object.uid, object.name, object.namespace);
    columns.resourceVersion = parseResourceVersion(object.resourceVersion);
    columns.deleting = object.deleting;
    columns.otherFinalizers = false;
    for (const finalizer of object.finalizers) {
      if (finalizer === FINALIZER_FOREGROUND) columns.foregroundFinalizer = true;
      else if (finalizer === FINALIZER_ORPHAN) columns.orphanFinalizer = true;
      else columns.otherFinalizers = true;
    }
    for (const reference of object.ownerReferences) this.#addOwner(columns, reference);
    columns.bytes = this.#scratch.bytes;
    return columns;
  }

  /** Only uid, name and namespace. */
  identity(uid: string, name: string, namespace: string): ObjectColumns {
    const columns = this.#columns;
    const scratch = this.#scratch;
    columns.begin(scratch.bytes);
    scratch.reset();
    columns.uidEnd = scratch.append(uid);
    columns.uidIsText = !this.#words.parse(scratch.bytes, 0, columns.uidEnd);
    if (!columns.uidIsText) {
      columns.uid0 = this.#words.w0;
      columns.uid1 = this.#words.w1;
      columns.uid2 = this.#words.w2;
      columns.uid3 = this.#words.w3;
    }
    columns.nameStart = scratch.end;
    columns.nameEnd = scratch.append(name);
    columns.namespaceStart = scratch.end;
    columns.namespaceEnd = scratch.append(namespace);
    columns.bytes = scratch.bytes;
    return columns;
  }

  #addOwner(columns: ObjectColumns, reference: OwnerReference): void {
    const at = columns.addOwner();
    const { owners } = columns;
    let flags = 0;
    if (reference.controller !== undefined) flags |= OWNER_HAS_CONTROLLER;
    if (reference.controller === true) flags |= OWNER_CONTROLLER;
    if (reference.blockOwnerDeletion !== undefined) flags |= OWNER_HAS_BLOCK;
    if (reference.blockOwnerDeletion === true) flags |= OWNER_BLOCK;
    this.#append(owners, at + OWNER_UID_RANGE, reference.uid);
    const start = owners[at + OWNER_UID_RANGE]!;
    if (this.#words.parse(this.#scratch.bytes, start, this.#scratch.end)) {
      owners[at + OWNER_UID] = this.#words.w0;
      owners[at + OWNER_UID + 1] = this.#words.w1;
      owners[at + OWNER_UID + 2] = this.#words.w2;
      owners[at + OWNER_UID + 3] = this.#words.w3;
    } else flags |= OWNER_UID_IS_TEXT;
    this.#append(owners, at + OWNER_NAME_RANGE, reference.name);
    this.#append(owners, at + OWNER_KIND_RANGE, reference.kind);
    this.#append(owners, at + OWNER_API_VERSION_RANGE, reference.apiVersion);
    owners[at + OWNER_FLAGS] = flags;
  }

  #append(owners: Uint32Array, at: number, text: string): void {
    owners[at] = this.#scratch.end;
    owners[at + 1] = this.#scratch.append(text);
  }
}

/** The number, or NaN when its text would not come back the same. */
export function parseResourceVersion(text: string): number {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : Number.NaN;
}
