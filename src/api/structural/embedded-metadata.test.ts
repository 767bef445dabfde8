import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import { coerceEmbedded, validateEmbedded } from './embedded-metadata.ts';
import { structuralSchema } from './structural-schema.ts';

const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const schema = structuralSchema({
  properties: { one: embedded, list: { items: embedded }, map: { additionalProperties: embedded } },
});
const of = { kind: 'Outer', version: 'v1' };

describe('coerceEmbedded', () => {
  it('API-234 metadata is decoded, and unknown fields are reported', () => {
    const object = {
      one: { kind: 'K', metadata: { name: 'a', labls: {}, labels: null } },
      list: [{ metadata: { x: 1 } }],
      metadata: { y: 1 },
    };
    expect(coerceEmbedded(object, schema, of)).toEqual(['list[0].metadata.x', 'one.metadata.labls']);
    expect(object).toEqual({
      one: { kind: 'K', metadata: { name: 'a' } },
      list: [{ metadata: {} }],
      metadata: { y: 1 },
    });
  });

  it.each([
    [
      { one: { kind: 1 } },
      'Outer in version "v1" cannot be handled as a Outer: one.kind: Invalid value: 1: must be a string',
    ],
    [{ map: { a: { metadata: { labels: [] } } } }, 'cannot unmarshal array into Go struct field Outer.metadata.labels'],
  ])('API-234 values of the wrong type are 400: %j', (object, message) => {
    expect(() => coerceEmbedded(object, schema, of)).toThrow(message);
  });
});

describe('validateEmbedded', () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{ one: { apiVersion: 'v1', kind: 'K' } }, []],
    [{ one: {} }, ['one.apiVersion: Required value', 'one.kind: Required value']],
    [
      { one: { apiVersion: '', kind: '' } },
      ['one.apiVersion: Invalid value: "": must not be empty', 'one.kind: Invalid value: "": must not be empty'],
    ],
    [
      { one: { apiVersion: 'a/b/c', kind: 'K' } },
      ['one.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      { map: { x: { apiVersion: 'v1', kind: 'K', metadata: { name: '..' } } } },
      ['map[x].metadata.name: Invalid value: "..": may not be \'..\''],
    ],
    [{ list: [{ apiVersion: 'v1', kind: 'K', metadata: { namespace: 'n' } }] }, []],
  ])('API-460 %j', (object, want) => {
    expect(validateEmbedded(object, schema).map(formatFieldError)).toEqual(want);
  });

  it('API-460 a kind is a word', () => {
    const [error] = validateEmbedded({ one: { apiVersion: 'v1', kind: 'a b' } }, schema);
    expect(formatFieldError(error!)).toMatch(
      /^one\.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035/,
    );
  });
});
