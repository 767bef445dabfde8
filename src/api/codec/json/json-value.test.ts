import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { copyJson, equalJson, getKey, setKey } from './json-value.ts';

describe('JSON values', () => {
  it('a copy is equal and shares nothing', () => {
    const source = JSON.parse('{"a":[{"b":1}],"__proto__":{"c":2}}') as Record<string, unknown>;
    const copy = copyJson(source);
    expect(equalJson(copy, source)).toBe(true);
    expect(Object.keys(copy)).toEqual(['a', '__proto__']);
    (copy['a'] as unknown[]).push(1);
    expect((source['a'] as unknown[]).length).toBe(1);
  });

  it('equality is that of the text with sorted keys', () => {
    const canonical = (value: unknown): string =>
      JSON.stringify(value, (_, v: unknown) =>
        typeof v === 'object' && v !== null && !Array.isArray(v)
          ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
          : v,
      );
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(equalJson(a, b)).toBe(canonical(a) === canonical(b));
        expect(equalJson(a, copyJson(a))).toBe(true);
      }),
    );
  });

  it('inherited names are absent and __proto__ is an ordinary key', () => {
    const object: Record<string, unknown> = {};
    expect(getKey(object, 'constructor')).toBeUndefined();
    setKey(object, '__proto__', 'x');
    expect(getKey(object, '__proto__')).toBe('x');
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });
});
