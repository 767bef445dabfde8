import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, type HeapHandle } from './heap.ts';

const ascending = (a: number, b: number): number => a - b;

describe('Heap', () => {
  it('yields equal elements in the order they were pushed', () => {
    const heap = new Heap<{ key: number; name: string }>((a, b) => a.key - b.key);
    for (const name of ['a', 'b', 'c', 'd', 'e']) heap.push({ key: 1, name });
    heap.push({ key: 0, name: 'first' });
    const names = [];
    while (heap.size > 0) names.push(heap.pop()?.name);
    expect(names).toEqual(['first', 'a', 'b', 'c', 'd', 'e']);
  });

  it('refuses a handle whose element left', () => {
    const heap = new Heap(ascending);
    const gone = heap.push(1);
    const other = heap.push(2);
    heap.pop();
    expect(heap.remove(gone)).toBe(false);
    expect(heap.update(gone, 0)).toBe(false);
    expect(heap.has(other)).toBe(true);
    expect([...heap.values()]).toEqual([2]);
  });

  it('behaves like a sorted list under pushes, pops, removals and updates', () => {
    const op = fc.record({
      kind: fc.constantFrom('push', 'pop', 'remove', 'update'),
      value: fc.integer({ min: 0, max: 20 }),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(op, { maxLength: 200 }), (ops) => {
        const heap = new Heap(ascending);
        const live: { handle: HeapHandle<number>; value: number }[] = [];
        for (const { kind, value, at } of ops) {
          const chosen = live[at % Math.max(1, live.length)];
          if (kind === 'push') live.push({ handle: heap.push(value), value });
          else if (kind === 'pop') {
            const least = Math.min(...live.map((e) => e.value));
            const popped = heap.pop();
            expect(popped).toBe(live.length === 0 ? undefined : least);
            const gone = live.findIndex((e) => !heap.has(e.handle));
            if (gone >= 0) live.splice(gone, 1);
          } else if (chosen !== undefined && kind === 'remove') {
            expect(heap.remove(chosen.handle)).toBe(true);
            live.splice(live.indexOf(chosen), 1);
          } else if (chosen !== undefined) {
            expect(heap.update(chosen.handle, value)).toBe(true);
            chosen.value = value;
          }
          expect(heap.size).toBe(live.length);
          expect(heap.peek()).toBe(live.length === 0 ? undefined : Math.min(...live.map((e) => e.value)));
        }
        const rest = [];
        while (heap.size > 0) rest.push(heap.pop());
        expect(rest).toEqual(live.map((e) => e.value).toSorted(ascending));
      }),
    );
  });
});
