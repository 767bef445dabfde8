import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { prune, pruneValue } from './pruning.ts';
import { structuralSchema } from './structural-schema.ts';

const pruned = (object: Record<string, unknown>, schema?: JsonSchemaProps) =>
  prune(object, schema === undefined ? undefined : structuralSchema(schema));
const preserve = { 'x-kubernetes-preserve-unknown-fields': true } as const;
const known: JsonSchemaProps = { type: 'object', properties: { known: { type: 'string' } } };

describe('prune', () => {
  it.each<[string, JsonSchemaProps, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ['a field nobody knows', known, { known: 'a', other: 1 }, { known: 'a' }, ['other']],
    [
      'deep inside',
      { properties: { spec: { properties: { list: { items: known } } } } },
      { spec: { list: [{ known: 'a' }, { x: 1, y: 2 }] } },
      { spec: { list: [{ known: 'a' }, {}] } },
      ['spec.list[1].x', 'spec.list[1].y'],
    ],
    [
      'values of maps',
      { properties: { map: { additionalProperties: known } } },
      { map: { a: { known: 'b', c: 1 } } },
      { map: { a: { known: 'b' } } },
      ['map.a.c'],
    ],
    [
      'any values: objects among them are emptied',
      { properties: { map: { additionalProperties: true } } },
      { map: { a: { b: 1 }, c: 2, d: [{ e: 1 }] } },
      { map: { a: {}, c: 2, d: [{}] } },
      ['map.a.b', 'map.d[0].e'],
    ],
    [
      'an object without properties',
      { properties: { spec: { type: 'object' } } },
      { spec: { a: 1 } },
      { spec: {} },
      ['spec.a'],
    ],
    ['everything kept', preserve, { a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 1 }] } }, []],
    [
      'everything kept but below what is told',
      { ...preserve, properties: { spec: known } },
      { a: 1, spec: { known: 'a', b: 1 } },
      { a: 1, spec: { known: 'a' } },
      ['spec.b'],
    ],
    [
      'kept inside of items',
      { properties: { list: { items: preserve } } },
      { list: [{ a: 1 }, [2]] },
      { list: [{ a: 1 }, [2]] },
      [],
    ],
    [
      'type and metadata of the root',
      {},
      { apiVersion: 'v1', kind: 'K', metadata: { x: 1 }, spec: {} },
      { apiVersion: 'v1', kind: 'K', metadata: { x: 1 } },
      ['spec'],
    ],
    [
      'metadata elsewhere is a field like others',
      { properties: { spec: { type: 'object' } } },
      { spec: { metadata: {}, kind: 'K' } },
      { spec: {} },
      ['spec.kind', 'spec.metadata'],
    ],
    [
      'of an embedded resource',
      { properties: { a: { 'x-kubernetes-embedded-resource': true, properties: { spec: known } } } },
      { a: { apiVersion: 'v1', kind: 'K', metadata: {}, spec: { known: 'a', b: 1 }, c: 1 } },
      { a: { apiVersion: 'v1', kind: 'K', metadata: {}, spec: { known: 'a' } } },
      ['a.c', 'a.spec.b'],
    ],
    [
      'scalars where objects should be stay for validation',
      { properties: { spec: known } },
      { spec: 'x' },
      { spec: 'x' },
      [],
    ],
  ])('API-461 API-234 %s', (_what, schema, object, want, unknown) => {
    expect(pruned(object, schema)).toEqual({ object: want, unknownFields: unknown });
  });

  it('API-461 without a schema nothing but the metadata stays', () => {
    expect(pruned({ kind: 'K', spec: 1 })).toEqual({ object: { kind: 'K' }, unknownFields: ['spec'] });
  });

  it('API-459 the order of fields stays, and a key may have any name', () => {
    const schema: JsonSchemaProps = { properties: { a: {}, b: {}, map: { additionalProperties: { type: 'string' } } } };
    const object = JSON.parse('{"b":1,"map":{"__proto__":"x","constructor":"y"},"a":2}') as Record<string, unknown>;
    expect(JSON.stringify(pruned(object, schema).object)).toBe(
      '{"b":1,"map":{"__proto__":"x","constructor":"y"},"a":2}',
    );
    expect(pruned(JSON.parse('{"constructor":{}}') as Record<string, unknown>, schema).object).toEqual({});
  });

  const schemas = fc.letrec<{ schema: JsonSchemaProps }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant({ type: 'string' }),
      fc.constant(preserve),
      fc.record({ properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')) }),
      fc.record({ additionalProperties: tie('schema') }),
      fc.record({ items: tie('schema') }),
    ),
  })).schema;
  const values = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('text', 1, null),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  })).value;

  it('API-461 pruning again changes nothing, finds nothing, and shares nothing', () => {
    fc.assert(
      fc.property(schemas, values, (props, value) => {
        const schema = structuralSchema(props);
        const before = JSON.stringify(value);
        const once = prune({ spec: value }, { ...schema, properties: new Map([['spec', schema]]) });
        expect(prune(once.object, { ...schema, properties: new Map([['spec', schema]]) })).toEqual({
          object: once.object,
          unknownFields: [],
        });
        expect(JSON.stringify(value)).toBe(before);
        if (typeof value === 'object' && value !== null) expect(pruneValue(value, schema)).not.toBe(value);
      }),
      { numRuns: 200 },
    );
  });
});
