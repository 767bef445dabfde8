/** Writes protobuf for tests, independently of the code that reads it. */
export function message(
  ...fields: readonly (readonly [number: number, value: number | string | Uint8Array])[]
): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number') {
      parts.push(varint(number << 3), varint(value));
    } else {
      const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
      parts.push(varint((number << 3) | 2), varint(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The `k8s\0` envelope (API-520). */
export function envelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    message([1, message([1, apiVersion], [2, kind])], [2, raw], [3, ''], [4, '']),
  ]);
}

/** A length-prefixed watch event (API-523). */
export function frame(type: string, object: Uint8Array): Uint8Array {
  const event = message([1, type], [2, message([1, object])]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

export interface MetaFixture {
  readonly name: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A bare `PartialObjectMetadata` message. */
export function partialMetadata({ name, resourceVersion = '', uid = '', annotations = {} }: MetaFixture): Uint8Array {
  const entries = Object.entries(annotations).map(([key, value]) => [12, message([1, key], [2, value])] as const);
  return message([
    1,
    message([1, name], [2, ''], [3, 'ns'], [4, ''], [5, uid], [6, resourceVersion], [7, 3], ...entries),
  ]);
}

export function partialMetadataEnvelope(meta: MetaFixture): Uint8Array {
  return envelope('meta.k8s.io/v1', 'PartialObjectMetadata', partialMetadata(meta));
}

export interface ListFixture {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly items: readonly MetaFixture[];
}

export function partialMetadataList({ resourceVersion, continue: token = '', items }: ListFixture): Uint8Array {
  const list = message(
    [1, message([1, ''], [2, resourceVersion], [3, token])],
    ...items.map((item) => [2, partialMetadata(item)] as const),
  );
  return envelope('meta.k8s.io/v1', 'PartialObjectMetadataList', list);
}
