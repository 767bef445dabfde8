import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IN_DELETES, IN_ORPHANS } from './object-numbers.ts';
import { type Key, keyOf, KeyQueue, parseKey } from './key-queue.ts';
import { NumberTable } from './number-table.ts';

const key = fc
  .tuple(fc.nat({ max: 60 }), fc.boolean())
  .map(([number, isVirtual]) => keyOf(number * 1000, isVirtual ? 'virtual' : 'observed'));

it('takes keys in their order of arrival, each once, beside another queue with the same marks', () => {
  const step = fc.record({ add: fc.array(key, { maxLength: 40 }), take: fc.nat({ max: 40 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const marks = new NumberTable(10_000, { isLarge: false });
      const queue = new KeyQueue(marks, IN_DELETES);
      const other = new KeyQueue(marks, IN_ORPHANS);
      const expected: Key[] = [];
      for (const { add, take } of steps) {
        for (const each of add) {
          queue.add(each);
          if (!expected.includes(each)) expected.push(each);
          other.add(each);
          other.take();
        }
        for (let i = 0; i < take; i++) expect(queue.take()).toBe(expected.shift());
      }
    }),
  );
});

it('keeps the number of an object and the state in which it was queued', () => {
  expect(parseKey(keyOf(7, 'virtual'))).toEqual({ number: 7, queuedAs: 'virtual' });
  expect(parseKey(keyOf(7, 'observed'))).toEqual({ number: 7, queuedAs: 'observed' });
});
