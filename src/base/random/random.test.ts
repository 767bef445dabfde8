import { describe, expect, it } from 'vitest';
import { seededRandom, systemRandom } from './random.ts';

const sources = [
  ['systemRandom', systemRandom],
  ['seededRandom', seededRandom(1)],
] as const;

describe.each(sources)('%s', (_, random) => {
  it('keeps its ranges', () => {
    const seen = new Set<number>();
    for (let i = 0; i < 2000; i++) {
      const f = random.float();
      expect(f >= 0 && f < 1).toBe(true);
      seen.add(random.integer(6));
    }
    expect([...seen].toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(random.bytes(7)).toHaveLength(7);
    expect(['a', 'b']).toContain(random.pick(['a', 'b']));
    expect(() => random.integer(0)).toThrow('invariant');
    expect(() => random.pick([])).toThrow('invariant');
  });

  it('makes version 4 uuids, no two alike', () => {
    const uuids = Array.from({ length: 500 }, () => random.uuid());
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(uuids).size).toBe(500);
  });

  it('spreads evenly', () => {
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 20_000; i++) buckets[random.integer(10)]!++;
    for (const n of buckets) expect(Math.abs(n - 2000)).toBeLessThan(400);
  });
});

describe('seededRandom', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return [random.float(), random.integer(1000), random.uuid(), [...random.bytes(5)], random.pick([1, 2, 3])];
  };

  it('repeats everything for the same seed', () => {
    expect(draw(42)).toEqual(draw(42));
  });

  it('differs from the first draw on for neighbouring and for large seeds', () => {
    const firsts = [0, 1, 2, 3, 2 ** 32, 2 ** 33, 2 ** 40].map((seed) => seededRandom(seed).float());
    expect(new Set(firsts).size).toBe(firsts.length);
  });

  it('yields the same numbers on every machine', () => {
    expect(draw(1)).toMatchInlineSnapshot(`
      [
        0.5261808280128839,
        31,
        "b7ffc2e9-c774-4b26-b89e-d939213659ca",
        [
          132,
          23,
          186,
          203,
          171,
        ],
        1,
      ]
    `);
  });
});
