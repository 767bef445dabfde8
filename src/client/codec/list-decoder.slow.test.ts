import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from './decode-error.ts';
import { listDecoder, type ListMeta } from './list-decoder.ts';
import { envelope, message, partialMetadata, partialMetadataList } from './wire-format.fixture.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function decode(
  contentType: string,
  body: Uint8Array,
  cuts: readonly number[] = [],
): { items: Buffer[]; meta: ListMeta } {
  const items: Buffer[] = [];
  const decoder = listDecoder(contentType, (bytes, start, end) => items.push(Buffer.from(bytes.slice(start, end))));
  let from = 0;
  for (const to of [...cuts.toSorted((a, b) => a - b), body.length]) {
    const chunk = Uint8Array.from(body.subarray(from, to));
    decoder.push(chunk);
    chunk.fill(0xff);
    from = to;
  }
  return { items, meta: decoder.end() };
}

const metas = ['a', 'Größe "😀" \\', '}],[{', 'x'.repeat(3000)].map((name, i) => ({
  name,
  resourceVersion: String(i),
  uid: `u${i}`,
}));
const jsonItems = metas.map((metadata) =>
  Buffer.from(JSON.stringify({ metadata, spec: { list: [{ items: [1, [2]] }, '"'] } })),
);
const jsonBody = Buffer.from(
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"77","continue":"t\\"o}k","x":{}},"items":[${jsonItems.join(',')}]}\n`,
);
const protobufBody = partialMetadataList({ resourceVersion: '77', continue: 't"o}k', items: metas });
const expectedMeta = { resourceVersion: '77', continue: 't"o}k' };

describe.each([
  ['JSON', 'application/json', jsonBody, jsonItems],
  ['protobuf', PROTOBUF, Buffer.from(protobufBody), metas.map((meta) => Buffer.from(partialMetadata(meta)))],
])('listDecoder of %s', (_, contentType, body, items) => {
  it('yields the same items wherever the body is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: body.length }), { maxLength: 20 }), (cuts) => {
        expect(decode(contentType, body, cuts)).toEqual({ items, meta: expectedMeta });
      }),
      { numRuns: 60 },
    );
  });

  it('yields the same items byte by byte', () => {
    expect(decode(contentType, body, Array.from(body.keys()))).toEqual({ items, meta: expectedMeta });
  });

  it('never takes a list for complete that is cut off', () => {
    const trailer = contentType === PROTOBUF ? 4 : 1;
    for (let length = 0; length < body.length - trailer; length += 1 + (length % 97)) {
      expect(() => decode(contentType, body.subarray(0, length))).toThrow(DecodeError);
    }
  });
});

describe('JSON lists', () => {
  const ofText = (text: string) => decode('application/json', Buffer.from(text));

  it('may have metadata last, spaces, and null or no items', () => {
    const meta = '"metadata" : { "resourceVersion" : "5" }';
    expect(ofText(`{ "items" : [ {} , { "a" : 1 } ] , ${meta} }`)).toEqual({
      items: [Buffer.from('{}'), Buffer.from('{ "a" : 1 }')],
      meta: { resourceVersion: '5', continue: '' },
    });
    expect(ofText(`{"items":null,${meta}}`).items).toEqual([]);
    expect(ofText(`{${meta},"items":[]}`).items).toEqual([]);
    expect(ofText(`{${meta}}`).items).toEqual([]);
  });

  it('only the outermost items and metadata count', () => {
    expect(
      ofText(
        '{"x":{"items":[{"a":1}],"metadata":{"resourceVersion":"1"}},"metadata":{"resourceVersion":"2"},"items":[]}',
      ),
    ).toEqual({
      items: [],
      meta: { resourceVersion: '2', continue: '' },
    });
  });

  it.each([
    ['text', 'page not found'],
    ['an array', '[{}]'],
    ['items that are no objects', '{"items":[1],"metadata":{}}'],
    ['strings as items', '{"items":["a"],"metadata":{}}'],
    ['lists as items', '{"items":[[]],"metadata":{}}'],
    ['no metadata', '{"items":[]}'],
    ['two documents', '{"metadata":{},"items":[]}{}'],
    ['too many ends', '{"metadata":{}}}'],
    ['broken metadata', '{"metadata":{a},"items":[]}'],
  ])('%s are errors', (_, text) => {
    expect(() => ofText(text)).toThrow(DecodeError);
  });
});

describe('protobuf lists', () => {
  it.each([
    ['no envelope', message([1, message([2, '5'])])],
    ['an item beyond the list', Buffer.concat([envelope('v1', 'L', Uint8Array.of(0x12, 0x05)), Buffer.alloc(10)])],
    ['a field that is no message', envelope('v1', 'L', message([3, 5]))],
  ])('with %s are errors', (_, body) => {
    expect(() => decode(PROTOBUF, body)).toThrow(DecodeError);
  });

  it('pass over fields they do not know', () => {
    const list = message([7, 'other'], [1, message([1, 'x'], [4, 9], [2, '5'])], [2, partialMetadata({ name: 'a' })]);
    const { items, meta } = decode(PROTOBUF, envelope('v1', 'L', list));
    expect([items.length, meta.resourceVersion]).toEqual([1, '5']);
  });

  it('may be empty', () => {
    expect(decode(PROTOBUF, partialMetadataList({ resourceVersion: '5', items: [] }))).toEqual({
      items: [],
      meta: { resourceVersion: '5', continue: '' },
    });
  });
});
