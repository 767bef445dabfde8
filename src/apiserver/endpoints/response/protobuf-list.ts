import {
  encodeListItems,
  type ListFrame,
  listFrame,
  type ListMeta,
  measureListItems,
  knownListLength,
  partialObjectMetadataListFrame,
} from '../../../api/codec/metadata/partial-object-metadata.ts';
import { encodeTypedItems } from '../../../api/codec/protobuf/protobuf.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';

interface ProtobufList {
  /** Iterated twice, with the same items both times. */
  readonly items: Iterable<ServedObject>;
  readonly metadata: ListMeta;
  readonly clock: Clock;
  readonly encoding: ListEncoding;
}

/** The encoding of a list of one kind. */
export interface ListEncoding {
  /** Maximum stored bytes of objects that are encoded together, plus one object. */
  readonly batchBytes: number;
  frame(metadata: ListMeta, itemBytes: number): ListFrame;
  /** Items in the form of the list, one after the other. */
  encode(items: readonly ServedObject[]): Uint8Array;
  /** The number of bytes that {@link encode} would produce. */
  measure(items: readonly ServedObject[]): number;
  /** The same number, if it is known without encoding. */
  knownLength(items: readonly ServedObject[]): number | undefined;
}

/** PartialObjectMetadataList, whatever the kind of the items. */
export const metadataEncoding: ListEncoding = {
  // Metadata is a small part of most objects.
  batchBytes: 4 * 1024 * 1024,
  frame: partialObjectMetadataListFrame,
  encode: encodeListItems,
  measure: measureListItems,
  knownLength: knownListLength,
};

/** Encodes whole objects of a built-in kind. */
export function typedEncoding(
  typeName: string,
  list: { readonly apiVersion: string; readonly kind: string },
): ListEncoding {
  const encode = (items: readonly ServedObject[]): Uint8Array => {
    const encoded = encodeTypedItems(
      typeName,
      items.map((item) => item.object()),
    );
    for (const item of items) item.dropCaches();
    return encoded;
  };
  return {
    batchBytes: 256 * 1024,
    frame: (metadata, itemBytes) => listFrame(list, metadata, itemBytes),
    encode,
    measure: (items) => encode(items).length,
    knownLength: () => undefined,
  };
}

/** Maximum number of items that are encoded together. */
const BATCH = 256;
/** Number of batches that are measured before the event loop continues. */
const TURN = 8;
/** Maximum size of a list that is sent as one body. */
const WHOLE_BYTES = 256 * 1024;
/** Maximum encoded bytes that are kept after measuring; the rest is encoded again. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * A list in protobuf (API-523, API-520). A message begins with its length, so the length of all items must be known before the first byte
 * is sent. A list beyond {@link KEPT_BYTES} of unknown length is encoded twice, and is never in memory as a whole.
 */
export async function protobufList(list: ProtobufList): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { encoding } = list;
  /** The bytes of each batch, if they are kept. */
  const kept: (Uint8Array | undefined)[] = [];
  let bytes = 0;
  for (const batch of batches(list)) {
    const known = bytes < WHOLE_BYTES ? undefined : encoding.knownLength(batch);
    const encoded = known === undefined && bytes < KEPT_BYTES ? encoding.encode(batch) : undefined;
    kept.push(encoded);
    bytes += encoded?.length ?? known ?? encoding.measure(batch);
    if (kept.length % TURN === 0) await new Promise<void>((resolve) => list.clock.defer(resolve));
  }
  const { head, tail } = encoding.frame(list.metadata, bytes);
  const whole = kept.filter((encoded) => encoded !== undefined);
  return whole.length === kept.length ? Buffer.concat([head, ...whole, tail]) : chunks(list, kept, { head, tail });
}

async function* chunks(
  list: ProtobufList,
  kept: (Uint8Array | undefined)[],
  { head, tail }: ListFrame,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (const batch of batches(list)) yield kept.shift() ?? list.encoding.encode(batch);
  yield tail;
}

function* batches({ items, encoding }: ProtobufList): Generator<readonly ServedObject[]> {
  let batch: ServedObject[] = [];
  let bytes = 0;
  for (const item of items) {
    batch.push(item);
    bytes += item.storedBytes;
    if (batch.length < BATCH && bytes < encoding.batchBytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
