import {
  addFinalizer,
  MetadataColumns,
  OWNER_API_VERSION_RANGE,
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_KIND_RANGE,
  OWNER_NAME_RANGE,
  setOwnerUid,
  setResourceVersion,
  setUid,
} from '../../api/codec/metadata/metadata-columns.ts';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { ObservedObject } from '../types/event.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { TextScratch } from './tables/text-scratch.ts';

/** Writes objects as columns. The columns are reused, so each call overwrites the previous result. */
export class ColumnsFromObject {
  readonly #columns = new MetadataColumns();
  readonly #scratch = new TextScratch();

  observed(object: ObservedObject): ObjectColumns {
    const columns = this.#columns;
    const scratch = this.#scratch;
    this.identity(object.uid, object.name, object.namespace);
    const version = scratch.end;
    setResourceVersion(columns, scratch.bytesAfter(object.resourceVersion), version, scratch.end);
    columns.deleting = object.deleting;
    for (const finalizer of object.finalizers) {
      const start = scratch.end;
      addFinalizer(columns, scratch.bytesAfter(finalizer), start, scratch.end);
    }
    for (const reference of object.ownerReferences) this.#addOwner(reference);
    // The buffer may have been reallocated while it grew, and its earlier content moved with it.
    columns.bytes = scratch.bytes;
    return columns;
  }

  /** Only uid, name and namespace. */
  identity(uid: string, name: string, namespace: string): ObjectColumns {
    const columns = this.#columns;
    const scratch = this.#scratch;
    scratch.reset();
    columns.begin(scratch.bytes);
    setUid(columns, scratch.bytesAfter(uid), 0, scratch.end);
    columns.nameStart = scratch.end;
    columns.nameEnd = scratch.append(name);
    columns.namespaceStart = scratch.end;
    columns.namespaceEnd = scratch.append(namespace);
    columns.bytes = scratch.bytes;
    return columns;
  }

  #addOwner(reference: OwnerReference): void {
    const scratch = this.#scratch;
    const at = this.#columns.addOwner();
    const { owners } = this.#columns;
    const uid = scratch.end;
    setOwnerUid(owners, at, scratch.bytesAfter(reference.uid), uid, scratch.end);
    this.#range(owners, at + OWNER_NAME_RANGE, reference.name);
    this.#range(owners, at + OWNER_KIND_RANGE, reference.kind);
    this.#range(owners, at + OWNER_API_VERSION_RANGE, reference.apiVersion);
    let flags = owners[at + OWNER_FLAGS]!;
    if (reference.controller !== undefined) flags |= OWNER_HAS_CONTROLLER;
    if (reference.controller === true) flags |= OWNER_CONTROLLER;
    if (reference.blockOwnerDeletion !== undefined) flags |= OWNER_HAS_BLOCK;
    if (reference.blockOwnerDeletion === true) flags |= OWNER_BLOCK;
    owners[at + OWNER_FLAGS] = flags;
  }

  #range(owners: Uint32Array, at: number, text: string): void {
    owners[at] = this.#scratch.end;
    owners[at + 1] = this.#scratch.append(text);
  }
}
