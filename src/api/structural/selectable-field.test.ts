import { describe, expect, it } from 'vitest';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { publishedSchema } from './published-schema.ts';
import { findFieldPath } from './selectable-field.ts';

const schema: JsonSchemaProps = {
  properties: {
    spec: {
      properties: {
        color: { type: 'string' },
        map: { additionalProperties: { type: 'integer' } },
        list: { items: {} },
      },
    },
  },
};

describe('findFieldPath', () => {
  it.each([
    ['.spec.color', { outcome: 'found', root: 'spec', schema: { type: 'string' } }],
    ['.spec.map.a', { outcome: 'found', root: 'spec', schema: { type: 'integer' } }],
    ['.spec.other', { outcome: 'invalid', why: 'does not refer to a valid field' }],
    ['.spec.color.x', { outcome: 'invalid', why: 'does not refer to a valid field' }],
    ['.constructor', { outcome: 'invalid', why: 'does not refer to a valid field' }],
    ['spec.color', { outcome: 'invalid', why: 'expected [ or . but got: spec' }],
    ['.spec.list[0]', { outcome: 'invalid', why: 'array notation is not allowed' }],
    ['.spec.', { outcome: 'invalid', why: 'unexpected end of JSON path' }],
  ])('API-469 %s', (path, want) => {
    expect(findFieldPath(path, schema)).toEqual(want);
  });
});

describe('publishedSchema', () => {
  const fields = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { $ref: 'M' } };

  it('API-417 int-or-string is spelled out', () => {
    const either = [{ type: 'integer' }, { type: 'string' }];
    const port = { 'x-kubernetes-int-or-string': true } as const;
    expect(publishedSchema({ items: port }, fields)).toEqual({ items: { ...port, anyOf: either } });
    expect(publishedSchema({ ...port, anyOf: either }, fields)).toEqual({ ...port, anyOf: either });
    expect(publishedSchema({ ...port, anyOf: [{ minimum: 1 }] }, fields)).toEqual({
      ...port,
      anyOf: [{ minimum: 1 }],
      allOf: [{ anyOf: either }],
    });
  });

  it('API-417 embedded resources have the fields of resources', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['kind'] } as const;
    expect(publishedSchema({ additionalProperties: { properties: { a: embedded } } }, fields)).toEqual({
      additionalProperties: {
        properties: { a: { ...embedded, properties: fields, required: ['kind', 'apiVersion'] } },
      },
    });
  });
});
