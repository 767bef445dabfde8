import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { SchemaValidator } from './schema-validator.ts';

const object = (properties: Record<string, JsonSchemaProps>, rest: JsonSchemaProps = {}): JsonSchemaProps => ({
  type: 'object',
  ...rest,
  properties,
});
const spec = (properties: Record<string, JsonSchemaProps>, rest?: JsonSchemaProps): JsonSchemaProps =>
  object({ spec: object(properties, rest) });
const texts = (schema: JsonSchemaProps, value: unknown, previous?: unknown): string[] =>
  new SchemaValidator(schema)
    .validate(value, previous === undefined ? {} : { previous: { value: previous } })
    .map(formatFieldError);

describe('SchemaValidator', () => {
  it.each<[string, JsonSchemaProps, unknown, string[]]>([
    [
      'a text that should be a number',
      { type: 'integer' },
      'x',
      ['Invalid value: "string": spec.a in body must be of type integer: "string"'],
    ],
    [
      'a number that should be a text',
      { type: 'string' },
      1,
      ['Invalid value: "integer": spec.a in body must be of type string: "integer"'],
    ],
    [
      'a fraction that should be whole',
      { type: 'integer' },
      1.5,
      ['Invalid value: "number": spec.a in body must be of type integer: "number"', 'range'],
    ],
    ['a boolean', { type: 'boolean' }, true, []],
    ['a whole number where fractions are allowed', { type: 'number', format: 'double' }, 2, []],
    [
      'an object that should be a list',
      { type: 'array', items: { type: 'string' } },
      {},
      ['Invalid value: "object": spec.a in body must be of type array: "object"'],
    ],
    ['null', { type: 'string' }, null, ['Invalid value: "null": spec.a in body must be of type string: "null"']],
    ['null where it may be', { type: 'string', nullable: true }, null, []],
    ['int-or-string', { 'x-kubernetes-int-or-string': true }, '10%', []],
    [
      'int-or-string with neither',
      { 'x-kubernetes-int-or-string': true },
      true,
      ['Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"'],
    ],
    [
      'a time',
      { type: 'string', format: 'date-time' },
      'soon',
      ['Invalid value: "soon": spec.a in body must be of type date-time: "soon"'],
    ],
    [
      'a number that should be a time',
      { type: 'string', format: 'date-time' },
      1,
      ['Invalid value: "int64": spec.a in body must be of type date-time: "int64"'],
    ],
    ['a format nobody knows', { type: 'string', format: 'nope' }, 'x', []],
    ['a format of another type', { type: 'boolean', format: 'date' }, false, []],
    [
      'an enumeration',
      { type: 'string', enum: ['Great', 'Down'] },
      'bad',
      ['Unsupported value: "bad": supported values: "Great", "Down"'],
    ],
    [
      'an enumeration of numbers',
      { type: 'integer', enum: [1, 2] },
      3,
      ['Unsupported value: 3: supported values: "1", "2"'],
    ],
    ['a member of it', { type: 'integer', enum: [1, 2] }, 2, []],
    [
      'null and an enumeration',
      { type: 'string', nullable: true, enum: ['a'] },
      null,
      ['Unsupported value: null: supported values: "a"'],
    ],
    [
      'a pattern',
      { type: 'string', pattern: '^a+$' },
      'b',
      ['Invalid value: "b": spec.a in body should match \'^a+$\''],
    ],
    ['too long', { type: 'string', maxLength: 2 }, 'abc', ['Too long: may not be more than 2 bytes']],
    ['length in characters', { type: 'string', maxLength: 2, minLength: 2 }, '😀😀', []],
    [
      'too short',
      { type: 'string', minLength: 2 },
      '😀',
      ['Invalid value: "😀": spec.a in body should be at least 2 chars long'],
    ],
    [
      'a minimum',
      { type: 'integer', minimum: 1 },
      0,
      ['Invalid value: 0: spec.a in body should be greater than or equal to 1'],
    ],
    [
      'an exclusive minimum',
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      1,
      ['Invalid value: 1: spec.a in body should be greater than 1'],
    ],
    [
      'a maximum',
      { type: 'number', maximum: 1.5 },
      1.75,
      ['Invalid value: 1.75: spec.a in body should be less than or equal to 1.5'],
    ],
    [
      'an exclusive maximum',
      { type: 'integer', maximum: 3, exclusiveMaximum: true },
      3,
      ['Invalid value: 3: spec.a in body should be less than 3'],
    ],
    [
      'a multiple',
      { type: 'number', multipleOf: 0.1 },
      0.35,
      ['Invalid value: 0.35: spec.a in body should be a multiple of 0.1'],
    ],
    ['a multiple that rounds', { type: 'number', multipleOf: 0.1 }, 0.3, []],
    [
      'too many items',
      { type: 'array', maxItems: 1, items: { type: 'string' } },
      ['a', 'b'],
      ['Too many: 2: must have at most 1 item'],
    ],
    [
      'too few items',
      { type: 'array', minItems: 1, items: { type: 'string' } },
      [],
      ['Invalid value: 0: spec.a in body should have at least 1 items'],
    ],
    [
      'too many properties',
      { type: 'object', maxProperties: 1, additionalProperties: true },
      { a: 1, b: 2 },
      ['Too many: 2: must have at most 1 item'],
    ],
    [
      'too few properties',
      { type: 'object', minProperties: 1 },
      {},
      ['Invalid value: 0: spec.a in body should have at least 1 properties'],
    ],
    ['a field that is not there', object({}, { required: ['b'] }), {}, ['spec.a.b: Required value']],
    [
      'a forbidden one',
      { type: 'object', additionalProperties: false },
      { b: 1 },
      ['Invalid value: "b": spec.a.b in body is a forbidden property'],
    ],
  ])('API-460 %s', (_what, schema, value, wanted) => {
    const range = '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.a';
    const complete = wanted.map((text) =>
      text === 'range' ? range : text.startsWith('spec.') ? text : `spec.a: ${text}`,
    );
    expect(texts(spec({ a: schema }), { spec: { a: value } })).toEqual(complete);
  });

  it('API-460 paths name items and values of maps', () => {
    const feeling: JsonSchemaProps = { type: 'string', enum: ['Great', 'Down'] };
    const schema = spec({
      bars: { type: 'array', items: object({ feeling }, { required: ['name'] }) },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
    });
    expect(texts(schema, { spec: { bars: [{ feeling: 'bad', name: 'a' }, {}], map: { 'x.y': 'z' } } })).toEqual([
      'spec.bars[0].feeling: Unsupported value: "bad": supported values: "Great", "Down"',
      'spec.bars[1].name: Required value',
      'spec.map.x.y: Invalid value: "string": spec.map.x.y in body must be of type integer: "string"',
    ]);
    expect(texts(object({}, { required: ['spec'] }), {})).toEqual(['spec: Required value']);
  });

  it('API-460 a number out of the range of its format', () => {
    expect(texts(spec({ a: { type: 'integer', format: 'int32' } }), { spec: { a: 2 ** 31 } })).toEqual([
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.a',
    ]);
  });

  it.each<[string, JsonSchemaProps, unknown, string[]]>([
    [
      'anyOf shows the alternative that fits best',
      { type: 'object', anyOf: [{ required: ['a'] }, { properties: { b: { minimum: 5 } }, required: ['b'] }] },
      { b: 1 },
      [
        '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
        'spec.x.b: Invalid value: 1: spec.x.b in body should be greater than or equal to 5',
      ],
    ],
    ['anyOf, one holds', { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }, []],
    [
      'oneOf, none holds',
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
        'spec.x.a: Required value',
      ],
    ],
    [
      'oneOf, two hold',
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { a: 1, b: 2 },
      ['<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    ['oneOf, one holds', { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, []],
    [
      'allOf',
      { type: 'object', allOf: [{ required: ['a'] }, { required: ['b'] }] },
      { a: 1 },
      ['spec.x.b: Required value', '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)'],
    ],
    [
      'not',
      { type: 'object', not: { required: ['a'] } },
      { a: 1 },
      ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
    ],
  ])('API-460 %s', (_what, x, value, wanted) => {
    expect(texts(spec({ x }), { spec: { x: value } })).toEqual(wanted);
  });

  it('API-465 the path before the value stands before the field only', () => {
    const errors = new SchemaValidator(object({ n: { type: 'integer' } })).validate({ n: 'x' }, { path: 'status' });
    expect(errors.map(formatFieldError)).toEqual([
      'status.n: Invalid value: "string": n in body must be of type integer: "string"',
    ]);
  });

  describe('ratcheting', () => {
    const schema = spec({
      a: { type: 'string', enum: ['x'] },
      b: { type: 'string', enum: ['x'] },
      plain: { type: 'array', items: { type: 'integer' } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: { type: 'string' }, v: { type: 'integer' }, w: { type: 'integer' } }),
      },
    });

    it('API-470 what was wrong before and did not change is not reported', () => {
      const before = { spec: { a: 'old', b: 'old' } };
      expect(texts(schema, { spec: { a: 'old', b: 'x' } }, before)).toEqual([]);
      expect(texts(schema, { spec: { a: 'new', b: 'old' } }, before)).toEqual([
        'spec.a: Unsupported value: "new": supported values: "x"',
      ]);
    });

    it('API-470 items are found again by their keys, and else only as a whole list', () => {
      const before = { spec: { plain: ['a'], map: [{ k: 'one', v: 'bad' }] } };
      expect(
        texts(
          schema,
          {
            spec: {
              plain: ['a'],
              map: [
                { k: 'two', v: 1 },
                { k: 'one', v: 'bad', w: 2 },
              ],
            },
          },
          before,
        ),
      ).toEqual([]);
      expect(texts(schema, { spec: { plain: ['a', 'b'], map: [{ k: 'one', v: 'worse' }] } }, before)).toEqual([
        'spec.plain[0]: Invalid value: "string": spec.plain[0] in body must be of type integer: "string"',
        'spec.plain[1]: Invalid value: "string": spec.plain[1] in body must be of type integer: "string"',
        'spec.map[0].v: Invalid value: "string": spec.map[0].v in body must be of type integer: "string"',
      ]);
    });
  });
});
