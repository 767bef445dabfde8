import { assert, jsonValue, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepEqual } from './deep-equal.ts';

describe('deep equality', () => {
  it('API-077 agrees with the sorted JSON text', () => {
    const sorted = (value: unknown): string =>
      JSON.stringify(value, (_key, v: unknown) =>
        typeof v === 'object' && v !== null && !Array.isArray(v)
          ? Object.fromEntries(Object.entries(v).sort(([x], [y]) => (x < y ? -1 : 1)))
          : v,
      );
    assert(
      property(jsonValue({ maxDepth: 3 }), jsonValue({ maxDepth: 3 }), (a, b) => {
        expect(deepEqual(a, b)).toBe(sorted(a) === sorted(b));
        expect(deepEqual(a, structuredClone(a))).toBe(true);
      }),
    );
  });

  it('API-077 the order of keys does not matter, an undefined member is absent, a null is not', () => {
    expect(deepEqual({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect(deepEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(deepEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
    expect(deepEqual({ a: null }, {})).toBe(false);
    expect(deepEqual([1, 2], [2, 1])).toBe(false);
    expect(deepEqual([], {})).toBe(false);
  });
});
