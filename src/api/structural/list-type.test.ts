import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { validateListTypes } from './list-type.ts';
import { structuralSchema } from './structural-schema.ts';

const set: JsonSchemaProps = { 'x-kubernetes-list-type': 'set', items: {} };
const map = (...keys: string[]): JsonSchemaProps => ({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items: { properties: { inner: set } },
});

describe('validateListTypes', () => {
  it.each<[string, JsonSchemaProps, unknown[], string[]]>([
    ['a set', set, ['a', 'b', 1, '1'], []],
    [
      'a set with duplicates, each told once',
      set,
      ['a', 'b', 'a', 'a', 'b'],
      ['spec.l[2]: Duplicate value: "a"', 'spec.l[4]: Duplicate value: "b"'],
    ],
    [
      'equal objects in a set',
      set,
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['spec.l[1]: Duplicate value: {"b":2,"a":1}'],
    ],
    ['a map', map('k'), [{ k: 'a' }, { k: 'b' }], []],
    [
      'a map with a key twice',
      map('k'),
      [
        { k: 'a', v: 1 },
        { k: 'a', v: 2 },
      ],
      ['spec.l[1]: Duplicate value: {"k":"a"}'],
    ],
    [
      'a map with several keys',
      map('k', 'p'),
      [
        { k: 'a', p: 1 },
        { k: 'a', p: 2 },
        { k: 'a', p: 1 },
      ],
      ['spec.l[2]: Duplicate value: {"k":"a","p":1}'],
    ],
    ['keys that are missing twice', map('k'), [{}, {}], ['spec.l[1]: Duplicate value: {}']],
    [
      'a map of texts',
      map('k'),
      ['a'],
      ['spec.l[0]: Invalid value: "a": must be an object for an array of list-type map'],
    ],
    ['lists in items', map('k'), [{ k: 'a', inner: [1, 1] }], ['spec.l[0].inner[1]: Duplicate value: 1']],
    ['an ordinary list', { items: {} }, ['a', 'a'], []],
  ])('API-472 %s', (_what, l, list, want) => {
    const schema = structuralSchema({ properties: { spec: { properties: { l } } } });
    expect(validateListTypes({ spec: { l: list } }, schema).map(formatFieldError)).toEqual(want);
  });

  it('API-472 values of maps', () => {
    const schema = structuralSchema({ properties: { m: { additionalProperties: set } } });
    expect(validateListTypes({ m: { a: [1, 1] } }, schema).map(formatFieldError)).toEqual([
      'm[a][1]: Duplicate value: 1',
    ]);
  });
});
