import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSignature, mayHave } from '../../../api/selectors/label-signature.ts';
import { SortedKeyIndex } from './sorted-key-index.ts';

interface Item {
  readonly key: string;
  gone?: number;
}

function newIndex(): SortedKeyIndex<Item> {
  return new SortedKeyIndex(({ gone }) => gone);
}

function scanned(index: SortedKeyIndex<Item>, prefix: string, start = '', revision = 0): string[] {
  const keys: string[] = [];
  index.scan(prefix, { start, revision }, ({ key }) => {
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
        const index = newIndex();
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

  it('API-101 sifts as a filter of its items does, whatever was added, deleted or changed meanwhile', () => {
    const bits = fc.record({ low: fc.integer({ min: -4, max: 7 }), high: fc.integer({ min: 0, max: 3 }) });
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('put' as const, 'delete' as const), key, bits }),
      fc.record({ kind: fc.constant('sift' as const), key, bits }),
    );
    const most = fc.constantFrom(1, 3, Infinity);
    let passedOver = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), most, (steps, limit) => {
        const index = new SortedKeyIndex<{ key: string; bits: LabelSignature }>(() => undefined);
        const model = new Map<string, { key: string; bits: LabelSignature }>();
        for (const { kind, key: k, bits: now } of steps) {
          const known = model.get(k);
          if (kind === 'delete') {
            model.delete(k);
            index.delete(k);
          } else if (kind === 'put' && known !== undefined) {
            known.bits = now;
            index.changed(known, true);
          } else if (kind === 'put') {
            const item = { key: k, bits: now };
            model.set(k, item);
            index.add(item);
          } else {
            const expected = [...model.values()].filter((item) => item.key.startsWith(k) && mayHave(item.bits, now));
            const found: string[] = [];
            let next: string | undefined = '';
            while (next !== undefined) {
              let asked = 0;
              const rest = index.sift(k, next, {
                required: now,
                most: limit,
                signatureOf: (item) => {
                  asked++;
                  return item.bits;
                },
                visit: (item) => {
                  found.push(item.key);
                  return 'next';
                },
              });
              expect(asked).toBeLessThanOrEqual(limit);
              next = rest?.key;
            }
            passedOver += model.size - found.length;
            expect(found).toEqual(expected.map((item) => item.key).toSorted());
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(passedOver).toBeGreaterThan(100);
  });

  it('API-101 keeps the facts about its items over many chunks', () => {
    const index = newIndex();
    const name = (i: number): string => `/k/${String(i).padStart(5, '0')}`;
    const asked: string[] = [];
    const sifted = (low: number): string[] => {
      const found: string[] = [];
      const rest = index.sift('/k/', '', {
        required: { low, high: 0 },
        most: Infinity,
        signatureOf: (item) => {
          asked.push(item.key);
          return { low: 1 << Number(item.key.slice(-1)), high: 0 };
        },
        visit: (item) => {
          found.push(item.key);
          return 'next';
        },
      });
      expect(rest).toBeUndefined();
      return found;
    };
    for (let i = 0; i < 3000; i += 2) index.add({ key: name(i) });
    expect(sifted(1 << 4)).toHaveLength(300);
    expect(asked.splice(0)).toHaveLength(1500);
    const changed = { key: name(1001) };
    for (let i = 2999; i > 0; i -= 2) index.add(i === 1001 ? changed : { key: name(i) });
    expect(sifted(1 << 4)).toHaveLength(300);
    expect(asked.splice(0).toSorted()).toEqual(Array.from({ length: 1500 }, (_, i) => name(2 * i + 1)));
    for (let i = 0; i < 3000; i += 3) index.delete(name(i));
    index.changed(changed, true);
    expect(sifted(1 << 5)).toEqual(
      Array.from({ length: 3000 }, (_, i) => i)
        .filter((i) => i % 10 === 5 && i % 3 !== 0)
        .map(name),
    );
    expect(asked).toEqual([name(1001)]);
  });

  it.each([
    ['ascending', (i: number) => i],
    ['descending', (i: number) => 4999 - i],
    ['scattered', (i: number) => (i * 1777) % 5000],
  ])('stays sorted over many chunks with %s keys, and empties again', (_, order) => {
    const index = newIndex();
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
    const filled = newIndex();
    filled.fill(keys.map((k) => ({ key: k })));
    expect(scanned(filled, '')).toEqual(sorted);
    expect([filled.size, filled.add({ key: '/k/00100x' }), filled.delete('/k/04999')]).toEqual([5000, true, true]);
    expect(scanned(filled, '')).toEqual([...sorted, '/k/00100x'].toSorted().filter((k) => k !== '/k/04999'));
    for (const k of keys) expect(index.delete(k)).toBe(true);
    expect(index.size).toBe(0);
    expect(scanned(index, '')).toEqual([]);
  });

  it('API-096 counts what is there, and passes over what is nothing but gone', () => {
    const index = newIndex();
    const items = Array.from({ length: 5000 }, (_unused, i): Item => ({ key: `/k/${String(i).padStart(5, '0')}` }));
    index.fill(items);
    const thereFrom = (start: string): number =>
      items.filter(({ key: k, gone }) => k >= start && gone === undefined).length;
    const expectCounts = (): void => {
      for (const start of ['', '/k/00001', '/k/01234', '/k/04999', '/k/9'])
        expect(index.count('/k/', start), start).toBe(thereFrom(start));
    };
    const turn = (item: Item, gone: number | undefined): void => {
      const wasThere = item.gone === undefined;
      if (gone === undefined) delete item.gone;
      else item.gone = gone;
      index.changed(item, wasThere);
    };
    items.forEach((item, i) => i < 4000 && turn(item, 10 + i));
    expectCounts();
    // At 4009 all 4,000 are gone; at 4008 one still exists, so its chunk is walked.
    expect(scanned(index, '/k/', '', 4009).length).toBeLessThan(1600);
    expect(scanned(index, '/k/', '', 4009)).toEqual(expect.arrayContaining(items.slice(4000).map(({ key: k }) => k)));
    expect(scanned(index, '/k/', '', 4008)).toContain('/k/03999');
    turn(items[100]!, undefined);
    expectCounts();
    expect(scanned(index, '/k/', '', 9000)).toContain('/k/00100');
    turn(items[100]!, 9001);
    expect(scanned(index, '/k/', '', 9000)).toContain('/k/00100');
    expect(scanned(index, '/k/', '', 9001)).not.toContain('/k/00100');
    // Chunks that are split or lose items have a correct summary of the rest.
    for (let i = 3500; i < 4500; i++) {
      const late: Item = { key: `${items[i]!.key}x`, ...(i % 3 === 0 ? { gone: 9002 } : {}) };
      items.push(late);
      index.add(late);
    }
    expectCounts();
    for (let i = 0; i < 6000; i += 7) {
      const [item] = items.splice(i, 1);
      index.delete(item?.key ?? '');
    }
    expectCounts();
  });

  it('stops a scan when the callback asks for it', () => {
    const index = newIndex();
    for (const k of ['a', 'b', 'c']) index.add({ key: k });
    const seen: string[] = [];
    index.scan('', { start: '', revision: 0 }, ({ key: k }) => {
      seen.push(k);
      return seen.length === 2 ? 'stop' : 'next';
    });
    expect(seen).toEqual(['a', 'b']);
  });
});
