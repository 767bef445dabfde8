import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lru } from './lru.ts';

describe('Lru', () => {
  it('forgets the entry that was not used for the longest time', () => {
    const evicted: [string, number][] = [];
    const lru = new Lru<string, number>({ capacity: 3, onEvict: (k, v) => evicted.push([k, v]) });
    lru.set('a', 1);
    lru.set('b', 2);
    lru.set('c', 3);
    expect(lru.get('a')).toBe(1);
    lru.set('b', 20);
    lru.set('d', 4);
    expect(evicted).toEqual([['c', 3]]);
    expect([...lru.entries()]).toEqual([
      ['a', 1],
      ['b', 20],
      ['d', 4],
    ]);
  });

  it('forgets in the order of use, whatever is asked for, written, deleted or cleared in between', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('get' as const, 'set' as const, 'delete' as const), key }),
      fc.record({ do: fc.constant('clear' as const), key }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lru = new Lru<string, number>({ capacity: 3 });
        /** Oldest first. */
        let model: [string, number][] = [];
        for (const [i, { do: what, key: k }] of steps.entries()) {
          const known = model.find(([other]) => other === k);
          const others = model.filter(([other]) => other !== k);
          if (what === 'clear') {
            lru.clear();
            model = [];
          } else if (what === 'delete') {
            expect(lru.delete(k)).toBe(known !== undefined);
            model = others;
          } else if (what === 'set') {
            lru.set(k, i);
            const written: [string, number] = [k, i];
            model = [...others, written].slice(-3);
          } else {
            expect(lru.get(k)).toBe(known?.[1]);
            if (known !== undefined) model = [...others, known];
          }
          expect([...lru.entries()]).toEqual(model);
        }
      }),
    );
  });

  it('does not count has() as use', () => {
    const lru = new Lru<string, number>({ capacity: 2 });
    lru.set('a', 1);
    lru.set('b', 2);
    expect(lru.has('a')).toBe(true);
    lru.set('c', 3);
    expect(lru.has('a')).toBe(false);
  });

  it('keeps an undefined value apart from no value', () => {
    const lru = new Lru<string, undefined>({ capacity: 2 });
    lru.set('a', undefined);
    expect(lru.get('a')).toBeUndefined();
    expect(lru.size).toBe(1);
    expect(lru.get('b')).toBeUndefined();
    expect(lru.size).toBe(1);
    expect(lru.delete('a')).toBe(true);
    lru.set('x', undefined);
    lru.clear();
    expect(lru.size).toBe(0);
  });
});
