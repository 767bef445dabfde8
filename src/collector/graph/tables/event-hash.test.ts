import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MetadataReader } from '../../../api/codec/metadata/metadata-reader.ts';
import { encodePartialObjectMetadata } from '../../../api/codec/metadata/partial-object-metadata.ts';
import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import { ColumnsFromObject } from '../columns-from-object.ts';
import { EventHash } from './event-hash.ts';
import { observed, pods, ref, type TestObject } from '../testing/events.ts';

function hashOf(object: Partial<TestObject>, seed = 1): string {
  const hash = new EventHash(seed);
  hash.of(new ColumnsFromObject().observed(observed(pods, { uid: 'a', ...object }).object));
  return `${hash.low} ${hash.high}`;
}

/** The same from a message whose references are left unread. */
function hashOfMessages(object: Partial<TestObject>, seed = 1): string {
  const { name, namespace, resourceVersion, ownerReferences, deleting, finalizers } = observed(pods, {
    uid: 'a',
    ...object,
  }).object;
  const bytes = encodePartialObjectMetadata({
    uid: 'a',
    name,
    namespace,
    resourceVersion,
    ownerReferences: [...ownerReferences],
    finalizers: [...finalizers],
    ...(deleting ? { deletionTimestamp: '2026-11-21T12:00:00Z' } : {}),
  });
  const reader = new MetadataReader();
  reader.scan(bytes, 0, bytes.length);
  expect(reader.ownersUnread).toBe(ownerReferences.length > 0);
  const hash = new EventHash(seed);
  hash.of(reader);
  return `${hash.low} ${hash.high}`;
}

describe.each([
  ['of what was read', hashOf],
  ['of what was left unread', hashOfMessages],
])('EventHash %s', (_, hashOf) => {
  const owners = [ref('o'), ref('0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', { controller: true })];
  const base: Partial<TestObject> = { owners };

  it.each<[string, Partial<TestObject>]>([
    ['deletionTimestamp', { deleting: true }],
    ['the finalizer FG', { finalizers: ['foregroundDeletion'] }],
    ['the finalizer ORPHAN', { finalizers: ['orphan'] }],
    ['the order of references', { owners: owners.toReversed() }],
    ['the number of references', { owners: owners.slice(0, 1) }],
    ['no reference', { owners: [] }],
    ...(['apiVersion', 'kind', 'name', 'uid'] as const).map((field): [string, Partial<TestObject>] => [
      `${field} of a reference`,
      { owners: [{ ...owners[0]!, [field]: 'x' }, owners[1]!] },
    ]),
    ['a digit of a uid', { owners: [owners[0]!, { ...owners[1]!, uid: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f8' }] }],
    ['a flag', { owners: [owners[0]!, { ...owners[1]!, controller: false }] }],
    ['a flag more', { owners: [{ ...owners[0]!, blockOwnerDeletion: false }, owners[1]!] }],
    ['a long name, at its end', { owners: [{ ...owners[0]!, name: 'o'.repeat(50) }, owners[1]!] }],
    ['a border between fields', { owners: [{ ...owners[0]!, name: 'oP', kind: 'od' }, owners[1]!] }],
  ])('COL-046 depends on %s', (_, change) => {
    expect(hashOf({ ...base, ...change })).not.toBe(hashOf(base));
  });

  it('BETTER-4 depends on nothing else', () => {
    const other = { name: 'x', namespace: 'y', resourceVersion: '7', finalizers: ['x/y'] };
    expect(hashOf({ ...base, ...other })).toBe(hashOf(base));
    expect(hashOf(base, 2)).not.toBe(hashOf(base, 1));
  });

  it('COL-046 depends on every byte of a reference', () => {
    const name = 'o'.repeat(40);
    const hashes = Array.from(name, (_letter, i) => `${name.slice(0, i)}x${name.slice(i + 1)}`)
      .concat(name, `${name}o`)
      .map((changed) => hashOf({ owners: [ref('o', { name: changed })] }));
    expect(new Set(hashes).size).toBe(name.length + 2);
  });

  it('COL-046 different states have different hashes', () => {
    const text = fc.string({ minLength: 1, maxLength: 9 });
    const reference: fc.Arbitrary<OwnerReference> = fc.record({ apiVersion: text, kind: text, name: text, uid: text });
    const state = fc.record({ owners: fc.array(reference, { maxLength: 3 }), deleting: fc.boolean() });
    fc.assert(
      fc.property(state, state, (one, another) => {
        const same = JSON.stringify(one) === JSON.stringify(another);
        expect(hashOf(one) === hashOf(another)).toBe(same);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});
