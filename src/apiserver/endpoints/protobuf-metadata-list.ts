import {
  encodeListItems,
  type ListMeta,
  measureListItems,
  partialObjectMetadataListFrame,
} from '../../api/codec/partial-object-metadata.ts';
import type { Clock } from '../../base/clock.ts';
import type { ServedObject } from '../registry/served-object.ts';

interface MetadataList {
  /** Read twice; the same both times. */
  readonly items: Iterable<ServedObject>;
  readonly metadata: ListMeta;
  readonly clock: Clock;
}

/** Items encoded together. */
const BATCH = 256;
/** Batches measured in one turn of the event loop. */
const TURN = 8;
/** Of what was encoded to be measured, so much is kept to be sent; the rest is encoded again. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * A PartialObjectMetadataList in protobuf (API-523). A message begins with its length, so all items have to be measured before the
 * first byte leaves: a list beyond {@link KEPT_BYTES} is encoded twice, and never in memory as a whole.
 */
export async function protobufMetadataList(list: MetadataList): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const kept: Uint8Array[] = [];
  let [bytes, count] = [0, 0];
  for (const batch of batches(list.items)) {
    if (bytes < KEPT_BYTES) {
      const encoded = encodeListItems(batch);
      kept.push(encoded);
      bytes += encoded.length;
    } else {
      bytes += measureListItems(batch);
    }
    count++;
    if (count % TURN === 0) await new Promise<void>((resolve) => list.clock.defer(resolve));
  }
  const { head, tail } = partialObjectMetadataListFrame(list.metadata, bytes);
  return kept.length === count ? Buffer.concat([head, ...kept, tail]) : chunks(list.items, kept, { head, tail });
}

async function* chunks(
  items: Iterable<ServedObject>,
  kept: Uint8Array[],
  { head, tail }: ReturnType<typeof partialObjectMetadataListFrame>,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (const batch of batches(items)) yield kept.shift() ?? encodeListItems(batch);
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
