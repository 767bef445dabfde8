import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import { finished } from '../../base/time/steps.ts';
import { validateDefaults } from './default-validation.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';
import { validateSchemaRules } from './schema-rules.ts';
import { validateStructural } from './structural-validation.ts';

const root = (properties: Record<string, JsonSchemaProps>): JsonSchemaProps => ({ type: 'object', properties });
const text: JsonSchemaProps = { type: 'string' };
const MANY_KEYS = Array.from({ length: 1000 }, (_, n) => `k${n}`);

describe('validateStructural', () => {
  const errors = (schema: JsonSchemaProps): string[] => finished(validateStructural(schema, 's')).map(formatFieldError);

  it.each<[string, JsonSchemaProps, string[]]>([
    [
      'a complete one',
      root({
        spec: root({
          a: text,
          n: { 'x-kubernetes-int-or-string': true },
          any: { 'x-kubernetes-preserve-unknown-fields': true },
        }),
      }),
      [],
    ],
    ['no type at the root', {}, ['s.type: Required value: must not be empty at the root']],
    [
      'a root that is no object',
      { type: 'array', items: text },
      ['s.type: Invalid value: "array": must be object at the root'],
    ],
    [
      'no type of a field',
      root({ a: {} }),
      ['s.properties[a].type: Required value: must not be empty for specified object fields'],
    ],
    [
      'no type of items',
      root({ a: { type: 'array', items: {} } }),
      ['s.properties[a].items.type: Required value: must not be empty for specified array items'],
    ],
    ['no items', root({ a: { type: 'array' } }), ['s.properties[a].items: Required value: must be specified']],
    [
      'a map at the root',
      { type: 'object', additionalProperties: text },
      ['s.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'kind that is no text',
      root({ kind: { type: 'integer' } }),
      ['s.properties[kind].type: Invalid value: "integer": must be string'],
    ],
    ['metadata', root({ metadata: { type: 'object' } }), []],
    ['names in metadata', root({ metadata: root({ name: { type: 'string', maxLength: 5 }, generateName: text }) }), []],
    [
      'more in metadata',
      root({ metadata: root({ name: text, labels: { type: 'object' } }) }),
      [
        's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'what a junctor may not say',
      { ...root({ a: text }), anyOf: [{ properties: { a: { type: 'string', description: 'd', nullable: true } } }] },
      [
        's.anyOf[0].properties[a].description: Forbidden: must be empty to be structural',
        's.anyOf[0].properties[a].nullable: Forbidden: must be false to be structural',
        's.anyOf[0].properties[a].type: Forbidden: must be empty to be structural',
      ],
    ],
    [
      'what a junctor says without structure',
      {
        ...root({ a: { type: 'array', items: text } }),
        not: { properties: { a: { items: { properties: { b: { minimum: 1 } } } }, c: { required: ['d'] } } },
      },
      [
        's.properties[a].items.properties[b]: Required value: because it is defined in s.not.properties[a].items.properties[b]',
        's.properties[c]: Required value: because it is defined in s.not.properties[c]',
      ],
    ],
    [
      'metadata inside a junctor',
      { ...root({ metadata: { type: 'object' } }), not: { properties: { metadata: {} } } },
      ['s.not.properties[metadata]: Forbidden: must not be specified in a nested context'],
    ],
    [
      'int-or-string spelled out',
      root({ a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] } }),
      [],
    ],
    [
      'int-or-string spelled out with more',
      root({
        a: {
          'x-kubernetes-int-or-string': true,
          allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { maximum: 3 }],
        },
      }),
      [],
    ],
    [
      'an embedded resource',
      root({ a: { type: 'object', 'x-kubernetes-embedded-resource': true } }),
      [
        's.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      'an untyped one',
      root({ a: { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true } }),
      ['s.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true'],
    ],
    [
      'a pattern that is none',
      root({ a: { type: 'string', pattern: '(' } }),
      [
        's.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
  ])('API-451 %s', (_what, schema, want) => {
    expect(errors(schema)).toEqual(want);
  });
});

describe('validateSchemaRules', () => {
  const errors = (schema: JsonSchemaProps): string[] =>
    finished(validateSchemaRules(schema, 's')).map(formatFieldError);
  const list = (extra: JsonSchemaProps): JsonSchemaProps => root({ a: { type: 'array', ...extra } });

  it.each<[string, JsonSchemaProps, string[]]>([
    ['nothing special', root({ a: text }), []],
    [
      'uniqueItems',
      list({ items: text, uniqueItems: true }),
      [
        's.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    ...(['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const).map(
      (name): [string, JsonSchemaProps, string[]] => [
        name,
        { type: 'object', [name]: name === 'id' || name === '$ref' ? 'x' : { a: {} } },
        [`s.${name}: Forbidden: ${name} is not supported`],
      ],
    ),
    [
      'a type nobody knows',
      { type: 'text' },
      [
        's.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      'maps with fields',
      root({ m: { ...root({ a: text }), additionalProperties: text } }),
      ['s.properties[m].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
    ],
    ['fields beside any fields', root({ m: { ...root({ a: text }), additionalProperties: true } }), []],
    [
      'a list of schemas',
      list({ items: [text] }),
      ['s.properties[a].items: Forbidden: items must be a schema object and not an array'],
    ],
    [
      'defaults of metadata',
      root({ metadata: { type: 'object', default: {} } }),
      ['s.properties[metadata].default: Forbidden: must not be set in top-level metadata'],
    ],
    [
      'unknown fields are preserved or not mentioned',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      ['s.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      'a map type of a text',
      root({ a: { type: 'string', 'x-kubernetes-map-type': 'atomic' } }),
      ['s.properties[a].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
    ],
    [
      'a list type of an object',
      root({ a: { type: 'object', 'x-kubernetes-list-type': 'set' } }),
      ['s.properties[a].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'a list type nobody knows',
      list({ items: text, 'x-kubernetes-list-type': 'bag' }),
      ['s.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
    ],
    [
      'a set of objects',
      list({ items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }),
      [
        's.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
    [
      'keys without a map',
      list({ items: text, 'x-kubernetes-list-map-keys': ['k'] }),
      [
        's.properties[a].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
      ],
    ],
    [
      'a map without keys',
      list({ items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
      [
        's.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
      ],
    ],
    [
      'keys that are not required',
      list({ items: root({ k: text }), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'] }),
      [
        's.properties[a].x-kubernetes-list-map-keys: Invalid value: ["k","l"]: entries must all be names of item properties',
        's.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      'more keys that there are not than are told, for each finding holds them all',
      list({ items: root({}), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': MANY_KEYS }),
      Array<string>(10).fill(
        `s.properties[a].x-kubernetes-list-map-keys: Invalid value: ${JSON.stringify(MANY_KEYS)}: entries must all be names of item properties`,
      ),
    ],
    [
      'a rule of two lines',
      { type: 'object', 'x-kubernetes-validations': [{ rule: 'a\n&& b' }] },
      ['s.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks'],
    ],
    [
      'a reason nobody knows',
      { type: 'object', 'x-kubernetes-validations': [{ rule: 'a', reason: 'Because' }] },
      [
        's.x-kubernetes-validations[0].reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      ],
    ],
  ])('API-451 API-471 %s', (_what, schema, want) => {
    expect(errors(schema)).toEqual(want);
  });
});

describe('validateDefaults', () => {
  it.each<[string, JsonSchemaProps, string[]]>([
    ['fits', root({ a: { type: 'integer', default: 1 } }), []],
    [
      'does not fit',
      root({ a: { type: 'integer', default: 'x' } }),
      [
        's.properties[a].default: Invalid value: "string": s.properties[a].default in body must be of type integer: "string"',
      ],
    ],
    [
      'has fields nobody knows',
      root({ a: { ...root({ b: text }), default: { c: 1 } } }),
      ['s.properties[a].default: Invalid value: {"c":1}: must not have unknown fields'],
    ],
    [
      'lacks a field',
      root({ l: { type: 'array', items: { ...root({ b: text }), required: ['b'], default: {} } } }),
      ['s.properties[l].items.default.b: Required value'],
    ],
    [
      'is no resource',
      root({
        a: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
          default: { kind: 'K' },
        },
      }),
      ['s.properties[a].default.apiVersion: Required value'],
    ],
  ])('API-451 a default that %s', (_what, schema, want) => {
    expect(finished(validateDefaults(schema, 's')).map(formatFieldError)).toEqual(
      want.map((each) => each.replace('s.properties[a].default in body', ' in body')),
    );
  });
});
