import { describe, expect, it } from 'vitest';
import { DecodeError } from './decode-error.ts';
import { objectVersion } from './object-version.ts';
import { partialMetadata, partialMetadataEnvelope } from './wire-format.fixture.ts';

const end = { 'other/annotation': 'true', 'k8s.io/initial-events-end': 'true' };
const json = (metadata: unknown): Uint8Array => Buffer.from(JSON.stringify({ kind: 'X', metadata }));
const of = (bytes: Uint8Array) =>
  objectVersion(Buffer.concat([Buffer.from('##'), bytes, Buffer.from('##')]), 2, 2 + bytes.length);

describe('objectVersion', () => {
  it.each([
    ['JSON', json({ name: 'a', resourceVersion: '123' }), json({ resourceVersion: '123', annotations: end })],
    [
      'a bare message',
      partialMetadata({ name: 'a', resourceVersion: '123' }),
      partialMetadata({ name: '', resourceVersion: '123', annotations: end }),
    ],
    [
      'an envelope',
      partialMetadataEnvelope({ name: 'a', resourceVersion: '123' }),
      partialMetadataEnvelope({ name: '', resourceVersion: '123', annotations: end }),
    ],
  ])('API-129 reads version and end of initial events from %s', (_, plain, last) => {
    expect(of(plain)).toEqual({ resourceVersion: '123', initialEventsEnd: false });
    expect(of(last)).toEqual({ resourceVersion: '123', initialEventsEnd: true });
  });

  it('API-129 takes no other value for the end', () => {
    const annotations = { 'k8s.io/initial-events-end': 'false' };
    expect(of(json({ resourceVersion: '1', annotations })).initialEventsEnd).toBe(false);
    expect(of(partialMetadataEnvelope({ name: '', resourceVersion: '1', annotations })).initialEventsEnd).toBe(false);
  });

  it.each([
    ['no version in JSON', json({ name: 'a' })],
    ['a number as version', json({ resourceVersion: 5 })],
    ['no metadata', Buffer.from('{}')],
    ['broken JSON', Buffer.from('{"metadata":')],
    ['no version in protobuf', partialMetadata({ name: 'a' })],
    ['a broken message', Uint8Array.of(0x0a, 0x7f, 0x01)],
  ])('refuses %s', (_, bytes) => {
    expect(() => of(bytes)).toThrow(DecodeError);
  });
});
