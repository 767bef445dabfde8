import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatUuid } from '../../base/random/uuid.ts';
import { workKey, type WorkKey } from './work-key.ts';
import { type QueuedUid, WorkKeyTable } from './work-key-table.ts';

const ofWords = (word: number, as: QueuedUid['as']): QueuedUid => {
  return { w0: -1, w1: word << 16, w2: 0x7fffffff, w3: word, text: undefined, as };
};
const ofText = (text: string, as: QueuedUid['as']): QueuedUid => ({ w0: 0, w1: 0, w2: 0, w3: 0, text, as });
const keyOf = ({ w0, w1, w2, w3, text, as }: QueuedUid): WorkKey => workKey(text ?? formatUuid(w0, w1, w2, w3), as);

/** Enough keys for several growths of the table, and few enough for many repetitions. */
const uid = fc
  .record({
    as: fc.constantFrom('virtual' as const, 'observed' as const),
    word: fc.integer({ min: 0, max: 300 }),
    form: fc.constantFrom('words', 'words', 'words', 'text'),
  })
  .map(({ as, word, form }) => (form === 'words' ? ofWords(word, as) : ofText(`uid ${word % 20}`, as)));

it('COL-081 gives a key one handle, by whichever form it is asked for, until it is released: as a Map does', () => {
  const op = fc.record({ uid, act: fc.constantFrom('acquire', 'acquireUid', 'acquireUid', 'find', 'release') });
  fc.assert(
    fc.property(fc.array(op, { maxLength: 600 }), fc.integer(), (ops, seed) => {
      const table = new WorkKeyTable(seed);
      const model = new Map<WorkKey, number>();
      for (const { uid: asked, act } of ops) {
        const key = keyOf(asked);
        const known = model.get(key);
        if (act === 'find') expect(table.find(key)).toBe(known ?? -1);
        else if (act === 'release') {
          if (known !== undefined) table.release(known);
          model.delete(key);
        } else {
          const handle = act === 'acquire' ? table.acquire(key) : table.acquireUid(asked);
          if (known === undefined) expect([...model.values()]).not.toContain(handle);
          else expect(handle).toBe(known);
          model.set(key, handle);
        }
        expect(table.size).toBe(model.size);
      }
      for (const [key, handle] of model) expect([table.keyOf(handle), table.find(key)]).toEqual([key, handle]);
    }),
  );
});

it('COL-072 the entries of a uid as virtual and as observed are two', () => {
  const table = new WorkKeyTable(1);
  for (const make of [(as: QueuedUid['as']) => ofWords(7, as), (as: QueuedUid['as']) => ofText('seven', as)]) {
    const [virtual, observed] = [table.acquireUid(make('virtual')), table.acquireUid(make('observed'))];
    expect(virtual).not.toBe(observed);
    expect(table.keyOf(virtual)).toBe(keyOf(make('virtual')));
    expect(table.keyOf(observed)).toBe(keyOf(make('observed')));
  }
});

it('COL-081 keeps no key that is not in the queue: as many as ever are at once take the same room', () => {
  const table = new WorkKeyTable(1);
  let highest = 0;
  for (let round = 0; round < 50; round++) {
    const handles = Array.from({ length: 100 }, (_, i) => table.acquireUid(ofWords(round * 100 + i, 'virtual')));
    highest = Math.max(highest, ...handles);
    for (const handle of handles) table.release(handle);
  }
  expect([table.size, highest]).toEqual([0, 99]);
});
