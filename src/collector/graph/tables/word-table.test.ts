import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordTable } from './word-table.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('WordTable', () => {
  it('BETTER-6 gives equal texts one id, and forgets a text with its last user', () => {
    const table = new WordTable();
    const id = table.acquire(bytesOf('..kube-system'), 2, 13);
    expect(table.acquire(bytesOf('kube-system'), 0, 11)).toBe(id);
    expect(table.text(id)).toBe('kube-system');
    table.release(id);
    expect(table.size).toBe(1);
    table.release(id);
    expect(table.size).toBe(0);
    expect(table.find(bytesOf('kube-system'), 0, 11)).toBe(-1);
  });

  it('finds every text after any other one was removed, however they collide', () => {
    const words = Array.from({ length: 60 }, (_, n) => bytesOf(`w${n}`));
    for (const gone of words.keys()) {
      const table = new WordTable();
      const ids = words.map((bytes) => table.acquire(bytes, 0, bytes.length));
      table.release(ids[gone]!);
      const found = words.map((bytes) => table.find(bytes, 0, bytes.length));
      expect(found).toEqual(ids.with(gone, -1));
    }
  });

  it('against a map, over any sequence of uses and releases', () => {
    const use = fc.record({ word: fc.integer({ min: 0, max: 200 }).map((n) => `w${n}`), acquire: fc.boolean() });
    fc.assert(
      fc.property(fc.array(use, { maxLength: 600 }), (uses) => {
        const table = new WordTable();
        const users = new Map<string, number>();
        for (const { word, acquire } of uses) {
          const bytes = bytesOf(word);
          const count = users.get(word) ?? 0;
          if (acquire) {
            expect(table.text(table.acquire(bytes, 0, bytes.length))).toBe(word);
            users.set(word, count + 1);
          } else if (count > 0) {
            table.release(table.find(bytes, 0, bytes.length));
            if (count === 1) users.delete(word);
            else users.set(word, count - 1);
          }
        }
        expect(table.size).toBe(users.size);
        for (let n = 0; n <= 200; n++) {
          const bytes = bytesOf(`w${n}`);
          const id = table.find(bytes, 0, bytes.length);
          expect(id >= 0).toBe(users.has(`w${n}`));
          if (id >= 0) expect(table.text(id)).toBe(`w${n}`);
        }
      }),
      { numRuns: 50, seed: 1 },
    );
  });
});
