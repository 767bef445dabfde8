import {
  encodeListItems,
  type ListFrame,
  listFrame,
  type ListMeta,
  measureListItems,
  partialObjectMetadataListFrame,
} from '../../api/codec/partial-object-metadata.ts';
import { encodeTypedItems } from '../../api/codec/protobuf.ts';
import type { Clock } from '../../base/clock.ts';
import type { ServedObject } from '../registry/served-object.ts';

interface ProtobufList {
  /** Read twice; the same both times. */
  readonly items: Iterable<ServedObject>;
  readonly metadata: ListMeta;
  readonly clock: Clock;
  readonly encoding: ListEncoding;
}

/** How a list of one kind is written. */
export interface ListEncoding {
  frame(metadata: ListMeta, itemBytes: number): ListFrame;
  /** Items as they stand in the list, one after the other. */
  encode(items: readonly ServedObject[]): Uint8Array;
  /** How many bytes {@link encode} makes of them. */
  measure(items: readonly ServedObject[]): number;
}

/** PartialObjectMetadataList, whatever the kind of the items. */
export const metadataEncoding: ListEncoding = {
  frame: partialObjectMetadataListFrame,
  encode: encodeListItems,
  measure: measureListItems,
};

/** Whole objects of a built-in kind. */
export function typedEncoding(
  typeName: string,
  list: { readonly apiVersion: string; readonly kind: string },
): ListEncoding {
  const encode = (items: readonly ServedObject[]): Uint8Array =>
    encodeTypedItems(
      typeName,
      items.map((item) => item.object()),
    );
  return {
    frame: (metadata, itemBytes) => listFrame(list, metadata, itemBytes),
    encode,
    measure: (items) => encode(items).length,
  };
}

/** Items encoded together. */
const BATCH = 256;
/** Batches measured in one turn of the event loop. */
const TURN = 8;
/** Of what was encoded to be measured, so much is kept to be sent; the rest is encoded again. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * A list in protobuf (API-523, API-520). A message begins with its length, so all items have to be measured before the
 * first byte leaves: a list beyond {@link KEPT_BYTES} is encoded twice, and never in memory as a whole.
 */
export async function protobufList(list: ProtobufList): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { encoding } = list;
  const kept: Uint8Array[] = [];
  let [bytes, count] = [0, 0];
  for (const batch of batches(list.items)) {
    if (bytes < KEPT_BYTES) {
      const encoded = encoding.encode(batch);
      kept.push(encoded);
      bytes += encoded.length;
    } else {
      bytes += encoding.measure(batch);
    }
    count++;
    if (count % TURN === 0) await new Promise<void>((resolve) => list.clock.defer(resolve));
  }
  const { head, tail } = encoding.frame(list.metadata, bytes);
  return kept.length === count ? Buffer.concat([head, ...kept, tail]) : chunks(list, kept, { head, tail });
}

async function* chunks(
  { items, encoding }: ProtobufList,
  kept: Uint8Array[],
  { head, tail }: ListFrame,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (const batch of batches(items)) yield kept.shift() ?? encoding.encode(batch);
  yield tail;
}

function* batches(items: Iterable<ServedObject>): Generator<readonly ServedObject[]> {
  let batch: ServedObject[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
