import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedKeyIndex } from './sorted-key-index.ts';

function scanned(index: SortedKeyIndex<{ key: string }>, prefix: string, start = ''): string[] {
  const keys: string[] = [];
  index.scan(prefix, start, ({ key }) => {
    keys.push(key);
    return 'next';
  });
  return keys;
}

const key = fc.stringMatching(/^[ab/]{0,4}$/);

describe('SortedKeyIndex', () => {
  it('API-092 holds and lists keys as a sorted set does', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), key }),
      fc.record({ kind: fc.constant('delete' as const), key }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), key, key, (steps, prefix, start) => {
        const index = new SortedKeyIndex();
        const model = new Set<string>();
        for (const { kind, key: k } of steps) {
          if (kind === 'add') {
            expect(index.add({ key: k })).toBe(!model.has(k));
            model.add(k);
          } else {
            expect(index.delete(k)).toBe(model.delete(k));
          }
        }
        expect(index.size).toBe(model.size);
        const expected = [...model].filter((k) => k.startsWith(prefix) && k >= start).toSorted();
        expect(scanned(index, prefix, start)).toEqual(expected);
        expect(index.count(prefix, start)).toBe(expected.length);
      }),
    );
  });

  it.each([
    ['ascending', (i: number) => i],
    ['descending', (i: number) => 4999 - i],
    ['scattered', (i: number) => (i * 1777) % 5000],
  ])('stays sorted over many chunks with %s keys, and empties again', (_, order) => {
    const index = new SortedKeyIndex();
    const keys = Array.from({ length: 5000 }, (_unused, i) => `/k/${String(order(i)).padStart(5, '0')}`);
    for (const k of keys) index.add({ key: k });
    const sorted = keys.toSorted();
    expect(scanned(index, '/k/')).toEqual(sorted);
    expect(scanned(index, '/k/', '/k/01234')).toEqual(sorted.slice(1234));
    expect(scanned(index, '/k/041')).toEqual(sorted.slice(4100, 4200));
    expect(scanned(index, '/k/9')).toEqual([]);
    for (const [prefix, start] of [
      ['/k/', ''],
      ['/k/', '/k/01234'],
      ['/k/041', ''],
      ['/k/041', '/k/0415'],
      ['/k/0', '/k/3'],
      ['/k/9', ''],
    ] as const) {
      expect(index.count(prefix, start)).toBe(scanned(index, prefix, start).length);
    }
    const filled = new SortedKeyIndex();
    filled.fill(keys.map((k) => ({ key: k })));
    expect(scanned(filled, '')).toEqual(sorted);
    expect([filled.size, filled.add({ key: '/k/00100x' }), filled.delete('/k/04999')]).toEqual([5000, true, true]);
    expect(scanned(filled, '')).toEqual([...sorted, '/k/00100x'].toSorted().filter((k) => k !== '/k/04999'));
    for (const k of keys) expect(index.delete(k)).toBe(true);
    expect(index.size).toBe(0);
    expect(scanned(index, '')).toEqual([]);
  });

  it('stops a scan when told', () => {
    const index = new SortedKeyIndex();
    for (const k of ['a', 'b', 'c']) index.add({ key: k });
    const seen: string[] = [];
    index.scan('', '', ({ key: k }) => {
      seen.push(k);
      return seen.length === 2 ? 'stop' : 'next';
    });
    expect(seen).toEqual(['a', 'b']);
  });
});
