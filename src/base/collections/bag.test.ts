import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bag, type Slot } from './bag.ts';

describe('a bag', () => {
  it('holds what was put in and not taken out, as a set of slots would', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), item: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ do: fc.constant('remove' as const), which: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bag = new Bag<number>();
        const given: Slot<number>[] = [];
        const inside = new Set<Slot<number>>();
        for (const each of steps) {
          if (each.do === 'add') {
            const slot = bag.add(each.item);
            given.push(slot);
            inside.add(slot);
          } else {
            // Also removes slots whose item is gone already: that has no effect.
            const slot = given[each.which % Math.max(1, given.length)];
            if (slot === undefined) continue;
            bag.remove(slot);
            inside.delete(slot);
          }
          expect(bag.size).toBe(inside.size);
          expect(bag.items().toSorted()).toEqual([...inside].map(({ item }) => item).toSorted());
        }
      }),
    );
  });

  it('shows what is in it now, whatever is taken out meanwhile', () => {
    const bag = new Bag<string>();
    const slots = ['a', 'b', 'c'].map((item) => bag.add(item));
    const seen: string[] = [];
    for (const item of bag.items()) {
      seen.push(item);
      for (const slot of slots) bag.remove(slot);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(bag.size).toBe(0);
  });
});
