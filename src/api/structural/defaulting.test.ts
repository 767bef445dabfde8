import { describe, expect, it } from 'vitest';
import { applyStructuralDefaults, dropUnsetNulls } from './defaulting.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { structuralSchema } from './structural-schema.ts';

const withDefaults = (schema: JsonSchemaProps, object: unknown): unknown => {
  applyStructuralDefaults(object, structuralSchema(schema));
  return object;
};
const size: JsonSchemaProps = { type: 'integer', default: 3 };

describe('applyStructuralDefaults', () => {
  it.each<[string, JsonSchemaProps, unknown, unknown]>([
    ['a missing field', { properties: { size } }, {}, { size: 3 }],
    ['a field that is there', { properties: { size } }, { size: 0 }, { size: 0 }],
    ['null that may not be', { properties: { size } }, { size: null }, { size: 3 }],
    ['null that may be', { properties: { size: { ...size, nullable: true } } }, { size: null }, { size: null }],
    ['not for the sake of what is inside', { properties: { spec: { properties: { size } } } }, {}, {}],
    ['inside of a default', { properties: { spec: { default: {}, properties: { size } } } }, {}, { spec: { size: 3 } }],
    [
      'items',
      { properties: { list: { items: { properties: { size } } } } },
      { list: [{}, { size: 1 }] },
      { list: [{ size: 3 }, { size: 1 }] },
    ],
    [
      'values of maps',
      { properties: { map: { additionalProperties: { properties: { size } } } } },
      { map: { a: {} } },
      { map: { a: { size: 3 } } },
    ],
    [
      'a null value of a map',
      { properties: { map: { additionalProperties: size } } },
      { map: { a: null } },
      { map: { a: 3 } },
    ],
    ['a null item', { properties: { list: { items: size } } }, { list: [null] }, { list: [3] }],
    [
      'a null item without default',
      { properties: { list: { items: { properties: { size } } } } },
      { list: [null] },
      { list: [null] },
    ],
    ['inherited names are no fields', { properties: { constructor: size } }, {}, { constructor: 3 }],
  ])('API-462 %s', (_what, schema, object, want) => {
    expect(withDefaults(schema, object)).toEqual(want);
  });

  it('API-462 each object gets its own copy', () => {
    const schema = { properties: { a: { default: { list: [] } } } } as unknown as JsonSchemaProps;
    const one = withDefaults(schema, {}) as { a: { list: number[] } };
    one.a.list.push(1);
    expect(withDefaults(schema, {})).toEqual({ a: { list: [] } });
  });
});

describe('dropUnsetNulls', () => {
  it.each<[string, JsonSchemaProps, unknown, unknown]>([
    ['a field', { properties: { a: { type: 'string' } } }, { a: null }, {}],
    ['one that may be null', { properties: { a: { type: 'string', nullable: true } } }, { a: null }, { a: null }],
    ['one with a default', { properties: { a: size } }, { a: null }, { a: null }],
    [
      'one that is not told',
      { 'x-kubernetes-preserve-unknown-fields': true },
      { a: null, b: { c: null } },
      { a: null, b: { c: null } },
    ],
    ['a value of a map', { additionalProperties: { type: 'string' } }, { a: null }, {}],
    ['items stay', { properties: { a: { items: { type: 'string' } } } }, { a: [null] }, { a: [null] }],
    ['fields of items', { properties: { a: { items: { properties: { b: {} } } } } }, { a: [{ b: null }] }, { a: [{}] }],
  ])('API-462 %s', (_what, schema, object, want) => {
    dropUnsetNulls(object, structuralSchema(schema));
    expect(object).toEqual(want);
  });

  it.each<[string, JsonSchemaProps, unknown]>([
    ['without a type', { 'x-kubernetes-preserve-unknown-fields': true }, {}],
    ['with a type', { type: 'string' }, { a: null }],
    ['for integers and strings', { 'x-kubernetes-int-or-string': true }, { a: null }],
  ])('API-462 of untyped fields only drops a null of a field %s', (_what, a, want) => {
    const object = { a: null };
    dropUnsetNulls(object, structuralSchema({ properties: { a } }), 'untyped');
    expect(object).toEqual(want);
  });
});
