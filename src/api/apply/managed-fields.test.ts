import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import '../../../test/property-seed.ts';
import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { decodeManagers, isSameManager, type ManagedEntry } from './managed-fields.ts';

const entryOf = (manager: string, fields: object): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': fields },
});

const anyEntry: fc.Arbitrary<ManagedFieldsEntry> = fc
  .record({
    manager: fc.constantFrom('', 'a', 'b'),
    operation: fc.constantFrom('Apply', 'Update'),
    apiVersion: fc.constantFrom('v1', 'v2'),
    subresource: fc.constantFrom(undefined, '', 'status'),
    key: fc.constantFrom('f:x', 'f:y', 'f:z'),
  })
  .map(({ manager, operation, apiVersion, subresource, key }) => ({
    ...entryOf(manager, { [key]: {} }),
    operation,
    apiVersion,
    ...(subresource === undefined ? {} : { subresource }),
  }));

describe('decodeManagers', () => {
  it('API-219 of several entries of one manager the last one counts, at the place of the first', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 20 }), (entries) => {
        const expected: ManagedEntry[] = [];
        for (const entry of entries.map((one) => decodeManagers([one])![0]!)) {
          const present = expected.findIndex((other) => isSameManager(other, entry));
          if (present < 0) expected.push(entry);
          else expected[present] = entry;
        }
        expect(JSON.stringify(decodeManagers(entries))).toBe(JSON.stringify(expected));
      }),
    );
  });

  it('API-219 reads as many entries as a request has place for', () => {
    const entries = Array.from({ length: 50_000 }, (_, n) => entryOf(`manager-${n}`, {}));
    expect(decodeManagers([...entries, ...entries])).toHaveLength(50_000);
  });
});
