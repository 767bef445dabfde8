import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ImageRecord, ImageRecords } from './image-records.ts';

const record = (key: string, firstDetected: number): ImageRecord => ({
  key,
  image: { id: key, runtimeHandler: '', tags: [], digests: [], size: 1n, pinned: false },
  firstDetected: BigInt(firstDetected),
  lastUsed: undefined,
  users: [],
});
const content = (records: ImageRecords): Record<string, bigint> =>
  Object.fromEntries([...records.values()].map(({ key, firstDetected }) => [key, firstDetected]));

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ do: fc.constant('next' as const), keys: fc.array(key, { maxLength: 6 }) }),
  fc.record({ do: fc.constant('without' as const), key }),
  fc.record({ do: fc.constant('updated' as const), keys: fc.uniqueArray(key) }),
);

describe('ImageRecords', () => {
  it('equals a map that is copied at each step, and no generation changes later', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat()), { maxLength: 20 }), (steps) => {
        const generations = [{ records: ImageRecords.empty, model: new Map<string, number>() }];
        for (const [n, [each, from]] of steps.entries()) {
          // Any earlier generation may have successors, which share one table.
          const { records, model } = generations[from % generations.length]!;
          const next = new Map(model);
          if (each.do === 'without') {
            next.delete(each.key);
            generations.push({ records: records.without(each.key), model: next });
          } else if (each.do === 'updated') {
            const changes = new Map(each.keys.map((name) => [name, n]));
            for (const name of each.keys) if (next.has(name)) next.set(name, n);
            generations.push({
              records: records.updated(changes, ({ key: name }, at) => record(name, at)),
              model: next,
            });
          } else {
            const known: unknown[] = [];
            const made = records.next(
              each.keys,
              (name) => name,
              (name, _, before) => {
                known.push(before?.firstDetected);
                return record(name, n);
              },
            );
            expect(known).toEqual(each.keys.map((name) => (model.has(name) ? BigInt(model.get(name)!) : undefined)));
            generations.push({ records: made, model: new Map(each.keys.map((name) => [name, n])) });
          }
        }
        for (const { records, model } of generations) {
          expect(content(records)).toEqual(Object.fromEntries([...model].map(([name, n]) => [name, BigInt(n)])));
          expect([...records.keys()].toSorted()).toEqual([...model.keys()].toSorted());
          expect(records.size).toBe(model.size);
          for (const name of 'abcdef') {
            expect(records.has(name)).toBe(model.has(name));
            expect(records.get(name)?.firstDetected).toBe(model.has(name) ? BigInt(model.get(name)!) : undefined);
          }
        }
      }),
    );
  });

  it('has no position left for keys of long ago', () => {
    let records = ImageRecords.empty;
    for (let pass = 0; pass < 1500; pass++) {
      records = records.next(
        [pass],
        (n) => `image ${n}`,
        (n, name) => record(name, n),
      );
    }
    expect(records.positions).toBeLessThan(1100);
    expect([...records.keys()]).toEqual(['image 1499']);
  });
});
