import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { JsonSchemaProps, ValidationRule } from './json-schema-props.ts';
import { checkRules } from './rule-checks.ts';
import { ruleFieldPath } from './rule-field-path.ts';

const text: JsonSchemaProps = { type: 'string' };
const integer: JsonSchemaProps = { type: 'integer' };

function ruled(props: JsonSchemaProps, ...rules: readonly (string | ValidationRule)[]): JsonSchemaProps {
  return { ...props, 'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)) };
}

const check = (x: JsonSchemaProps): readonly string[] =>
  checkRules({ type: 'object', properties: { x } }, 's').map(formatFieldError);

const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

describe('API-471 costs of rules', () => {
  it.each<[string, JsonSchemaProps, string | undefined]>([
    ['a number', ruled(integer, 'self > 1'), undefined],
    ['all items of a list', ruled({ type: 'array', items: text }, 'self.all(x, x == "a")'), undefined],
    [
      'pairs of items of a list without bound',
      ruled({ type: 'array', items: text }, 'self.all(x, self.all(y, x == y))'),
      'more than 100x',
    ],
    [
      'pairs of items of a short list',
      ruled({ type: 'array', maxItems: 100, items: text }, 'self.all(x, self.all(y, x == "a"))'),
      undefined,
    ],
    [
      'pairs of long texts',
      ruled({ type: 'array', maxItems: 100, items: text }, 'self.all(x, self.all(y, x == y))'),
      'more than 100x',
    ],
    [
      'pairs of short texts',
      ruled({ type: 'array', maxItems: 100, items: { ...text, maxLength: 10 } }, 'self.all(x, self.all(y, x == y))'),
      undefined,
    ],
    ['a pattern over a long text', ruled(text, 'self.matches("^[a-z]+$")'), undefined],
    ['a long pattern as a function', ruled(text, `matches(self, "${'a'.repeat(200)}")`), undefined],
    ['a long pattern over a long text', ruled(text, `self.matches("${'a'.repeat(200)}")`), '1.6x'],
    [
      'a text in each item without bound',
      { type: 'array', items: ruled(text, 'self.startsWith("a") && self.contains("b")') },
      'more than 100x',
    ],
    [
      'the type of a number or a text without bound',
      ruled({ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self >= 0 : self.endsWith("%")'),
      undefined,
    ],
    [
      'the type of a field',
      ruled({ type: 'object', properties: { a: text } }, 'type(self.a) != google.protobuf.Timestamp'),
      undefined,
    ],
    ['a number in each item without bound', { type: 'array', items: ruled(integer, 'self > 1') }, undefined],
    [
      'values of a map without bound',
      { type: 'object', additionalProperties: ruled(text, 'self.contains("b")') },
      'more than 100x',
    ],
    [
      'values of a small map',
      {
        type: 'object',
        maxProperties: 3,
        additionalProperties: ruled({ ...text, maxLength: 9 }, 'self.contains("b")'),
      },
      undefined,
    ],
  ])('%s', (_, schema, factor) => {
    const errors = check(schema).filter((error) => error.includes('estimated rule cost exceeds'));
    if (factor === undefined) expect(check(schema)).toEqual([]);
    else expect(errors[0]).toContain(`Forbidden: estimated rule cost exceeds budget by factor of ${factor} ${ADVICE}`);
  });

  it('all rules of a schema together have a limit, and the dearest are named', () => {
    const items = { ...text, maxLength: 20 };
    const dear = ruled({ type: 'array', maxItems: 800, items }, 'self.all(x, self.all(y, x == y))');
    const schema = { type: 'object', properties: Object.fromEntries([...'abcdefghijklm'].map((name) => [name, dear])) };
    const errors = checkRules(schema, 's').map(formatFieldError);
    const named = errors.filter((error) => error.includes('contributed to estimated rule cost total'));
    expect(named).toHaveLength(4);
    expect(named[0]).toMatch(
      /^s\.properties\[.\]\.x-kubernetes-validations\[0\]\.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema$/,
    );
    expect(errors.at(-1)).toMatch(
      /^s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of/,
    );
  });

  it('a message has a limit of its own', () => {
    const rule = { rule: 'true', messageExpression: 'self.map(x, self.map(y, x + y).join()).join()' };
    expect(check(ruled({ type: 'array', items: text }, rule))[0]).toContain(
      'messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x',
    );
  });
});

describe('API-471 rules that cannot be', () => {
  it.each<[string, JsonSchemaProps, string]>([
    [
      'oldSelf in a set',
      { type: 'array', 'x-kubernetes-list-type': 'set', items: ruled(integer, 'self > oldSelf') },
      'within s.properties[x]',
    ],
    [
      'oldSelf below a list in a map',
      {
        type: 'object',
        additionalProperties: {
          type: 'array',
          items: { type: 'object', properties: { a: ruled(integer, 'self > oldSelf') } },
        },
      },
      'within s.properties[x].additionalProperties',
    ],
    [
      'oldSelf in a message',
      ruled(integer, { rule: 'self > 1', optionalOldSelf: false }),
      'may not be set if oldSelf is not used in rule',
    ],
    [
      'a pattern that RE2 refuses',
      ruled(text, 'self.find("(a") == ""'),
      'program instantiation failed: error parsing regexp: missing closing ): `(a`',
    ],
    [
      'the authorizer',
      ruled(text, 'authorizer.path("/").check("get").allowed()'),
      "undeclared reference to 'authorizer'",
    ],
  ])('%s', (_, schema, detail) => {
    expect(check(schema).join()).toContain(detail);
  });
});

describe('API-471 defaults', () => {
  it('keep the rules of their schema and of its parts', () => {
    const kept = ruled(
      { type: 'object', default: { n: 3 }, properties: { n: ruled(integer, 'self > 2') } },
      'self.n < 5 && self == oldSelf',
    );
    expect(check(kept)).toEqual([]);
    expect(check({ ...kept, default: { n: 7 } })).toEqual([
      's.properties[x].default: Invalid value: failed rule: self.n < 5 && self == oldSelf',
    ]);
    expect(check({ ...kept, default: { n: 1 } })).toEqual([
      's.properties[x].default.n: Invalid value: 1: failed rule: self > 2',
    ]);
  });

  it('a field called kind is no kind but of a resource', () => {
    expect(
      check(ruled({ type: 'object', default: { kind: 3 }, properties: { kind: integer } }, 'self.kind == 3')),
    ).toEqual([]);
  });
});

describe('fieldPath', () => {
  const schema: JsonSchemaProps = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { 'a.b': text, list: { type: 'array', items: text } } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { x: text } } },
    },
  };

  it.each<[string, string | undefined]>([
    ['.spec', 'spec'],
    [".spec['a.b']", 'spec.a.b'],
    ['.map.key.x', 'map[key].x'],
    [".map['it\\'s'].x", "map[it's].x"],
    ['spec', undefined],
    ['.spec.a.b', undefined],
    ['.spec.list[0]', undefined],
    ['.nope', undefined],
    [".map['a", undefined],
    ['.spec.', undefined],
    [".map['\\q']", undefined],
  ])('API-471 %s is %s', (path, place) => {
    expect(ruleFieldPath(path, schema)).toBe(place);
  });
});
