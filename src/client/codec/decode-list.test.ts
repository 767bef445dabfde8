import { describe, expect, it } from 'vitest';
import { DecodeError } from './decode-error.ts';
import { decodeList } from './decode-list.ts';
import { listDecoder } from './list-decoder.ts';

/** The answers of kube-apiserver 1.36: a list of metadata and a typed list, both empty. */
const HEAD = '"apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"42"}';
const EMPTY = {
  null: `{"kind":"PartialObjectMetadataList",${HEAD},"items":null}`,
  absent: `{"kind":"PartialObjectMetadataList",${HEAD}}`,
  empty: `{"kind":"PartialObjectMetadataList",${HEAD},"items":[]}`,
};

describe('COL-040 an empty list', () => {
  it.each(Object.entries(EMPTY))('is read alike when its items are %s', (_, json) => {
    expect(decodeList(JSON.parse(json), 'pods')).toMatchObject({ items: [], metadata: { resourceVersion: '42' } });
    const items: string[] = [];
    const decoder = listDecoder('application/json', (bytes, start, end) => {
      items.push(Buffer.from(bytes.subarray(start, end)).toString());
    });
    for (const byte of Buffer.from(json)) decoder.push(Uint8Array.of(byte));
    expect([decoder.end(), items]).toEqual([{ resourceVersion: '42', continue: '' }, []]);
  });

  it('has empty metadata when the server writes null', () => {
    expect(decodeList({ kind: 'PodList', metadata: null, items: null }, 'pods')).toEqual({
      kind: 'PodList',
      metadata: {},
      items: [],
    });
  });
});

describe('COL-156 an answer that is no list', () => {
  it.each([
    ['null', null, 'the list of pods is not an object'],
    ['an empty object', {}, 'the answer to a list of pods is an object without a kind, not a list'],
    ['another kind', { kind: 'Status' }, 'the answer to a list of pods is a Status, not a list'],
    ['items of another shape', { kind: 'PodList', items: {} }, 'items of the list of pods is not a list'],
    ['an item of another shape', { kind: 'PodList', items: [null] }, 'an item of the list of pods is not an object'],
    ['metadata of another shape', { kind: 'PodList', metadata: 3 }, 'metadata of the list of pods is not an object'],
  ])('is an error that names the kind: %s', (_, body, message) => {
    const read = (): unknown => decodeList(body, 'pods');
    expect(read).toThrow(DecodeError);
    expect(read).toThrow(message);
  });
});
