import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { ColumnsFromObject } from './columns-from-object.ts';
import { EventHash } from './event-hash.ts';
import { observed, pods, ref, type TestObject } from './testing/events.ts';

function hashOf(object: Partial<TestObject>, seed = 1): string {
  const hash = new EventHash(seed);
  hash.of(new ColumnsFromObject().observed(observed(pods, { uid: 'a', ...object }).object));
  return `${hash.low} ${hash.high}`;
}

describe('EventHash', () => {
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
    ['a border between fields', { owners: [{ ...owners[0]!, name: 'oP', kind: 'od' }, owners[1]!] }],
  ])('COL-046 depends on %s', (_, change) => {
    expect(hashOf({ ...base, ...change })).not.toBe(hashOf(base));
  });

  it('BETTER-4 depends on nothing else', () => {
    const other = { name: 'x', namespace: 'y', resourceVersion: '7', finalizers: ['x/y'] };
    expect(hashOf({ ...base, ...other })).toBe(hashOf(base));
    expect(hashOf(base, 2)).not.toBe(hashOf(base, 1));
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
