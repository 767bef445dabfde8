import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../meta/object-meta.ts';
import { writeEnvelope } from './protobuf-envelope.ts';
import { timestampOf, ZERO_TIME_SECONDS } from './protobuf-time.ts';
import { WIRE_VARINT, WireWriter } from './protobuf-wire.ts';

/**
 * PartialObjectMetadata in protobuf (API-523, API-524), by hand: an API server writes it once per stored object and a
 * list of it may hold a hundred thousand. The bytes are those of the table-driven codec, which the tests hold it to.
 * The writer goes backwards, so fields come in descending order of their numbers.
 */
const META_V1 = 'meta.k8s.io/v1';
const OBJECT = { apiVersion: META_V1, kind: 'PartialObjectMetadata' };
const LIST = { apiVersion: META_V1, kind: 'PartialObjectMetadataList' };

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Writing is synchronous and never re-enters, so one buffer serves all. */
const writer = new WireWriter();

function encode(write: () => void): Uint8Array {
  try {
    write();
    return writer.finish();
  } finally {
    writer.reset();
  }
}

/** The bare message `{1: ObjectMeta}`, as the items of a list have it. */
export function encodePartialObjectMetadata(meta: ObjectMeta): Uint8Array {
  return encode(() => writePartialObjectMetadata(meta));
}

/** With the envelope, as single objects and watch events have it. */
export function encodePartialObjectMetadataEnvelope(meta: ObjectMeta): Uint8Array {
  return encode(() => writeEnvelope(writer, OBJECT, () => writePartialObjectMetadata(meta)));
}

/** An enveloped list. */
export function encodePartialObjectMetadataList(items: readonly ObjectMeta[], list: ListMeta = {}): Uint8Array {
  return encode(() =>
    writeEnvelope(writer, LIST, () => {
      for (let i = items.length - 1; i >= 0; i--) {
        const before = writer.size;
        writePartialObjectMetadata(items[i]!);
        writer.delimit(2, before);
      }
      writeListMeta(list);
    }),
  );
}

/** The same from items that are already bare messages. */
export function joinPartialObjectMetadataList(messages: readonly Uint8Array[], list: ListMeta = {}): Uint8Array {
  return encode(() =>
    writeEnvelope(writer, LIST, () => {
      for (let i = messages.length - 1; i >= 0; i--) {
        const before = writer.size;
        writer.raw(messages[i]!);
        writer.delimit(2, before);
      }
      writeListMeta(list);
    }),
  );
}

/**
 * One event of a watch stream: a big-endian length of four bytes, then the WatchEvent without an envelope, whose object
 * has one (API-523). `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
 */
export function encodeWatchFrame(type: string, envelopedObject: Uint8Array): Uint8Array {
  return encode(() => {
    const before = writer.size;
    writer.raw(envelopedObject);
    writer.delimit(1, before);
    writer.delimit(2, before);
    writer.string(1, type);
    const length = writer.size;
    writer.byte(length & 0xff);
    writer.byte((length >>> 8) & 0xff);
    writer.byte((length >>> 16) & 0xff);
    writer.byte(length >>> 24);
  });
}

function writePartialObjectMetadata(meta: ObjectMeta): void {
  const before = writer.size;
  writeObjectMeta(meta);
  writer.delimit(1, before);
}

function writeListMeta(list: ListMeta): void {
  const before = writer.size;
  writeInteger(4, list.remainingItemCount);
  writer.string(3, list.continue ?? '');
  writer.string(2, list.resourceVersion ?? '');
  writer.string(1, '');
  writer.delimit(1, before);
}

function writeObjectMeta(meta: ObjectMeta): void {
  const { managedFields, finalizers, ownerReferences } = meta;
  if (managedFields) for (let i = managedFields.length - 1; i >= 0; i--) writeManagedFields(managedFields[i]!);
  if (finalizers) for (let i = finalizers.length - 1; i >= 0; i--) writer.string(14, finalizers[i]!);
  if (ownerReferences) for (let i = ownerReferences.length - 1; i >= 0; i--) writeOwnerReference(ownerReferences[i]!);
  writeStrings(12, meta.annotations);
  writeStrings(11, meta.labels);
  writeInteger(10, meta.deletionGracePeriodSeconds);
  if (meta.deletionTimestamp) writeTime(9, meta.deletionTimestamp);
  writeTime(8, meta.creationTimestamp);
  writer.varint(meta.generation ?? 0);
  writer.tag(7, WIRE_VARINT);
  writer.string(6, meta.resourceVersion ?? '');
  writer.string(5, meta.uid ?? '');
  writer.string(4, meta.selfLink ?? '');
  writer.string(3, meta.namespace ?? '');
  writer.string(2, meta.generateName ?? '');
  writer.string(1, meta.name ?? '');
}

function writeOwnerReference(owner: OwnerReference): void {
  const before = writer.size;
  writeBoolean(7, owner.blockOwnerDeletion);
  writeBoolean(6, owner.controller);
  writer.string(5, owner.apiVersion ?? '');
  writer.string(4, owner.uid ?? '');
  writer.string(3, owner.name ?? '');
  writer.string(1, owner.kind ?? '');
  writer.delimit(13, before);
}

function writeManagedFields(entry: ManagedFieldsEntry): void {
  const before = writer.size;
  writer.string(8, entry.subresource ?? '');
  if (entry.fieldsV1) {
    const inner = writer.size;
    writer.string(1, JSON.stringify(entry.fieldsV1));
    writer.delimit(7, inner);
  }
  writer.string(6, entry.fieldsType ?? '');
  if (entry.time) writeTime(4, entry.time);
  writer.string(3, entry.apiVersion ?? '');
  writer.string(2, entry.operation ?? '');
  writer.string(1, entry.manager ?? '');
  writer.delimit(17, before);
}

function writeStrings(field: number, map: Readonly<Record<string, string>> | null | undefined): void {
  if (!map) return;
  const keys = Object.keys(map).sort();
  for (let i = keys.length - 1; i >= 0; i--) {
    const before = writer.size;
    const key = keys[i]!;
    writer.string(2, map[key]!);
    writer.string(1, key);
    writer.delimit(field, before);
  }
}

/** The time parsed last: objects are created in bursts, so one that is the same again is likely. */
let lastTime = '';
let lastSeconds = ZERO_TIME_SECONDS;

function secondsOf(text: string): number {
  if (text !== lastTime) {
    lastSeconds = timestampOf(text).seconds;
    lastTime = text;
  }
  return lastSeconds;
}

function writeTime(field: number, text: string | null | undefined): void {
  const before = writer.size;
  const seconds = text ? secondsOf(text) : ZERO_TIME_SECONDS;
  if (seconds !== ZERO_TIME_SECONDS) {
    writer.varint(0);
    writer.tag(2, WIRE_VARINT);
    writer.varint(seconds);
    writer.tag(1, WIRE_VARINT);
  }
  writer.delimit(field, before);
}

function writeInteger(field: number, value: number | null | undefined): void {
  if (value === undefined || value === null) return;
  writer.varint(value);
  writer.tag(field, WIRE_VARINT);
}

function writeBoolean(field: number, value: boolean | null | undefined): void {
  if (value === undefined || value === null) return;
  writer.byte(value ? 1 : 0);
  writer.tag(field, WIRE_VARINT);
}
