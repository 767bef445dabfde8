import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typedObjectArbitrary } from '../../../../test/arbitraries/typed-object.ts';
import { META_V1 } from '../../kinds/type-table.ts';
import type { ObjectMeta } from '../../meta/object-meta.ts';
import {
  encodePartialObjectMetadata,
  encodePartialObjectMetadataEnvelope,
  encodeWatchFrame,
} from './partial-object-metadata.ts';
import { decodeProtobuf, decodeTypedMessage, encodeProtobuf, encodeTypedMessage } from '../protobuf/protobuf.ts';

const TYPE = `${META_V1}.PartialObjectMetadata`;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const metas = typedObjectArbitrary(`${META_V1}.ObjectMeta`) as fc.Arbitrary<ObjectMeta>;

const deployment: ObjectMeta = {
  name: 'web',
  namespace: 'default',
  uid: '0b6a4d3e-9f1c-4e7a-8a51-0c2d3e4f5a6b',
  resourceVersion: '4711',
  generation: 3,
  creationTimestamp: '2026-11-21T12:00:00Z',
  labels: { b: '2', a: '1' },
  finalizers: ['foregroundDeletion'],
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true, blockOwnerDeletion: false },
  ],
};

describe('PartialObjectMetadata in protobuf', () => {
  it('API-524 the bytes are those of the table-driven codec', () => {
    fc.assert(
      fc.property(metas, (meta) => {
        expect(hex(encodePartialObjectMetadata(meta))).toBe(hex(encodeTypedMessage(TYPE, { metadata: meta })));
      }),
      { numRuns: 500 },
    );
    expect(hex(encodePartialObjectMetadata({}))).toBe(hex(encodeTypedMessage(TYPE, {})));
  });

  it('API-520 with its envelope', () => {
    const object = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: deployment };
    const bytes = encodePartialObjectMetadataEnvelope(deployment);
    expect(hex(bytes)).toBe(hex(encodeProtobuf(object)));
    expect(decodeProtobuf(bytes)).toEqual(object);
  });

  it('nulls count as absent', () => {
    const nothing = { creationTimestamp: null, deletionTimestamp: null, deletionGracePeriodSeconds: null };
    expect(hex(encodePartialObjectMetadata(nothing))).toBe(hex(encodePartialObjectMetadata({})));
  });

  it.each([10, 1000, 100_000])('API-523 a watch frame around an object of %d bytes', (size) => {
    const envelope = encodePartialObjectMetadataEnvelope({ ...deployment, annotations: { a: 'x'.repeat(size) } });
    const frame = encodeWatchFrame('ADDED', envelope);
    expect(Buffer.from(frame).readUInt32BE(0)).toBe(frame.length - 4);
    const event = decodeTypedMessage(`${META_V1}.WatchEvent`, frame.subarray(4));
    expect(event).toEqual({ type: 'ADDED', object: decodeProtobuf(envelope) });
  });

  it('API-523 the event itself has no envelope, its object has one', () => {
    expect(hex(encodeWatchFrame('ERROR', Uint8Array.of(1, 2)))).toBe(
      `0000000d${'0a054552524f52'}${'1204'}${'0a020102'}`,
    );
  });

  it('a failure leaves nothing behind', () => {
    expect(() => encodePartialObjectMetadata({ name: 'x', creationTimestamp: 'yesterday' })).toThrow('RFC 3339');
    expect(hex(encodePartialObjectMetadata({}))).toBe(hex(encodeTypedMessage(TYPE, {})));
  });
});
