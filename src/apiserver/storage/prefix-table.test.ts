import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixTable } from './prefix-table.ts';

const text = fc.stringMatching(/^[ab/]{0,4}$/);

describe('PrefixTable', () => {
  it('finds exactly the members whose prefix begins the key', () => {
    const step = fc.record({ add: fc.boolean(), prefix: text, member: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), text, (steps, key) => {
        const table = new PrefixTable<number>();
        const model = new Map<string, Set<number>>();
        for (const { add, prefix, member } of steps) {
          const members = model.get(prefix) ?? new Set();
          model.set(prefix, members);
          if (add) {
            table.add(prefix, member);
            members.add(member);
          } else {
            table.delete(prefix, member);
            members.delete(member);
          }
        }
        const found: number[] = [];
        table.forEachMatch(key, (member) => found.push(member));
        const expected = [...model].flatMap(([prefix, members]) => (key.startsWith(prefix) ? [...members] : []));
        expect(found.toSorted()).toEqual(expected.toSorted());
        expect(table.members().toSorted()).toEqual([...model.values()].flatMap((m) => [...m]).toSorted());
        expect(table.empty).toBe(table.members().length === 0);
      }),
    );
  });
});
