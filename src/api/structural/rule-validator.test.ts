import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { JsonSchemaProps, ValidationRule } from './json-schema-props.ts';
import { RuleValidator } from './rule-validator.ts';
import { typedSchema } from './schema-cel-type.ts';

const text: JsonSchemaProps = { type: 'string' };
const integer: JsonSchemaProps = { type: 'integer' };

function ruled(props: JsonSchemaProps, ...rules: readonly (string | ValidationRule)[]): JsonSchemaProps {
  return { ...props, 'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)) };
}

const object = (properties: Readonly<Record<string, JsonSchemaProps>>): JsonSchemaProps => ({
  type: 'object',
  properties,
});
const listMap = (items: JsonSchemaProps, ...keys: readonly string[]): JsonSchemaProps => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});

function errorsOf(schema: JsonSchemaProps, value: unknown, previous?: unknown): readonly string[] {
  const options = previous === undefined ? {} : { previous: { value: previous } };
  return new RuleValidator(typedSchema(schema)).validate(value, options).errors.map(formatFieldError);
}

function warningsOf(schema: JsonSchemaProps, value: unknown, previous: unknown): readonly string[] {
  return new RuleValidator(typedSchema(schema))
    .validate(value, { previous: { value: previous } })
    .warnings.map(formatFieldError);
}

describe('API-471 where rules stand', () => {
  it('errors point to the value of the schema that has the rule, values before their parts', () => {
    const schema = ruled(
      object({
        n: ruled(integer, 'self > 5'),
        list: { type: 'array', items: ruled(object({ s: text }), 'self.s != "bad"') },
        map: { type: 'object', additionalProperties: ruled(text, 'self.size() < 3') },
      }),
      'self.n < 3',
    );
    expect(errorsOf(schema, { n: 4, list: [{ s: 'ok' }, { s: 'bad' }], map: { a: 'xxx', b: '' } })).toEqual([
      '<nil>: Invalid value: failed rule: self.n < 3',
      'n: Invalid value: 4: failed rule: self > 5',
      'list[1]: Invalid value: failed rule: self.s != "bad"',
      'map[a]: Invalid value: "xxx": failed rule: self.size() < 3',
    ]);
  });

  it('nothing is asked of what is null or not there', () => {
    const schema = object({ a: ruled({ ...text, nullable: true }, 'self == "x"'), b: ruled(text, 'false') });
    expect(errorsOf(schema, { a: null })).toEqual([]);
    expect(errorsOf(schema, { a: 'y' })).toHaveLength(1);
  });

  it('properties that are no identifiers have rules of their own, and escaped names', () => {
    const schema = ruled(
      object({ 'a-b': ruled(integer, 'self > 1'), 'x y': ruled(integer, 'self > 1'), namespace: text }),
      'self.a__dash__b < 9 && self.__namespace__ == self.namespace',
    );
    expect(errorsOf(schema, { 'a-b': 1, 'x y': 1, namespace: 'n' })).toEqual([
      'a-b: Invalid value: 1: failed rule: self > 1',
      'x y: Invalid value: 1: failed rule: self > 1',
    ]);
  });
});

describe('API-471 what rules see', () => {
  it.each<[string, JsonSchemaProps, unknown, string]>([
    [
      'lists that are sets are equal in any order',
      { type: 'array', items: integer, 'x-kubernetes-list-type': 'set' },
      [1, 2, 3],
      'self == [3, 1, 2]',
    ],
    ['other lists are not', { type: 'array', items: integer }, [1, 2], 'self != [2, 1]'],
    [
      '+ of sets is a union',
      { type: 'array', items: integer, 'x-kubernetes-list-type': 'set' },
      [1, 2],
      'size(self + [2, 3]) == 3',
    ],
    [
      '+ of lists that are maps replaces by key',
      listMap(object({ k: text, v: integer }), 'k'),
      [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
      'size(self + self) == 2 && (self + self) == self',
    ],
    [
      'integers or texts',
      { 'x-kubernetes-int-or-string': true },
      '50%',
      'type(self) == string ? self == "50%" : self == 3',
    ],
    ['numbers are doubles', { type: 'number' }, 3, 'self == 3.0 && type(self) == double'],
    [
      'times',
      { type: 'string', format: 'date-time' },
      '2026-01-01T00:00:00Z',
      'self < timestamp("2026-01-02T00:00:00Z")',
    ],
    ['dates', { type: 'string', format: 'date' }, '2026-01-01', 'self.getFullYear() == 2026'],
    ['durations', { type: 'string', format: 'duration' }, '90s', 'self == duration("1m30s")'],
    ['durations in words', { type: 'string', format: 'duration' }, '2 Days 1w 5 ms', 'self == duration("216h5ms")'],
    ['durations in odd words', { type: 'string', format: 'duration' }, '1h 3 hrs', 'self == duration("1h")'],
    ['bytes', { type: 'string', format: 'byte' }, 'YWI=', 'self == b"ab"'],
    [
      'maps',
      { type: 'object', additionalProperties: integer },
      { a: 1, 'b c': 2 },
      '"b c" in self && self.all(k, self[k] > 0)',
    ],
    [
      'the fields of an embedded resource',
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      'self.kind == "Pod" && self.metadata.name == "p"',
    ],
    [
      'unknown fields count when objects are compared',
      { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      [{ a: 1 }, { a: 2 }, { a: 1 }],
      'self[0] != self[1] && self[0] == self[2]',
    ],
    ['a field that is null is not set', object({ a: { ...text, nullable: true } }), { a: null }, '!has(self.a)'],
  ])('%s', (_, schema, value, rule) => {
    expect(errorsOf(object({ x: ruled(schema, rule) }), { x: value })).toEqual([]);
    expect(errorsOf(object({ x: ruled(schema, `!(${rule})`) }), { x: value })).toHaveLength(1);
  });

  it('a text that may be one of more than the stack has place for', () => {
    const many = Array.from({ length: 1_000_000 }, (_, n) => String(n));
    expect(errorsOf(ruled({ ...text, enum: many }, 'self == "7"'), '7')).toEqual([]);
  });

  it('data that does not fit the schema is an error of the rule', () => {
    const schema = object({ x: ruled(object({ a: text }), 'has(self.a)') });
    expect(errorsOf(schema, { x: [1] })).toEqual([
      'x: Invalid value: "object": invalid data, expected a map for the provided schema with type=object evaluating rule: has(self.a)',
    ]);
    const time = object({ t: ruled({ type: 'string', format: 'date-time' }, 'self > timestamp(0)') });
    expect(errorsOf(time, { t: 'soon' })[0]).toContain('Invalid date-time formatted string soon');
  });

  it('a value that types accept fails with the rule', () => {
    const schema = object({ x: ruled({ 'x-kubernetes-int-or-string': true }, 'self + 1 == 2') });
    expect(errorsOf(schema, { x: 'a' })).toEqual([
      'x: Invalid value: "": \'no such overload\': call arguments did not match a supported operator, function or macro signature for rule: self + 1 == 2',
    ]);
  });
});

describe('API-471 what errors say', () => {
  const value = { a: 3, inner: { b: 'x' }, tags: { 'x.y': 1 } };
  const schema = (rule: Partial<ValidationRule>): JsonSchemaProps =>
    object({
      spec: ruled(
        object({ a: integer, inner: object({ b: text }), tags: { type: 'object', additionalProperties: integer } }),
        { rule: 'self.a > 5', ...rule },
      ),
    });

  it.each<[Partial<ValidationRule>, string]>([
    [{}, 'spec: Invalid value: failed rule: self.a > 5'],
    [{ message: ' too small ' }, 'spec: Invalid value: too small'],
    [{ message: 'm', messageExpression: '"a is " + string(self.a)' }, 'spec: Invalid value: a is 3'],
    [{ message: 'm', messageExpression: '"x" + string(1 / (self.a - 3))' }, 'spec: Invalid value: m'],
    [{ message: 'm', messageExpression: '" "' }, 'spec: Invalid value: m'],
    [{ message: 'm', messageExpression: '"a\\nb"' }, 'spec: Invalid value: m'],
    [{ message: 'm', messageExpression: `"${'x'.repeat(5000)}" + "${'x'.repeat(200)}"` }, 'spec: Invalid value: m'],
    [{ reason: 'FieldValueForbidden', message: 'm' }, 'spec: Forbidden: m'],
    [{ reason: 'FieldValueRequired', message: 'm' }, 'spec: Required value: m'],
    [{ reason: 'FieldValueDuplicate', message: 'm' }, 'spec: Duplicate value'],
    [{ reason: 'FieldValueInvalid', message: 'm' }, 'spec: Invalid value: m'],
    [{ fieldPath: '.inner.b', message: 'm' }, 'spec.inner.b: Invalid value: m'],
    [{ fieldPath: ".tags['x.y']", message: 'm' }, 'spec.tags[x.y]: Invalid value: m'],
    [{ rule: 'self.a > 1 / 0' }, 'spec: Invalid value: "object": division by zero evaluating rule: self.a > 1 / 0'],
    [
      { rule: 'self.a > "x"' },
      `spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:8: found no matching overload for '_>_' applied to '(int, string)'\n | self.a > "x"\n | .......^`,
    ],
  ])('%j', (rule, message) => {
    expect(errorsOf(schema(rule), { spec: value })).toEqual([message]);
  });
});

describe('API-471 transition rules', () => {
  const grows = 'self >= oldSelf';

  it('are evaluated where there is an old value', () => {
    const schema = object({ n: ruled(integer, grows) });
    expect(errorsOf(schema, { n: 1 })).toEqual([]);
    expect(errorsOf(schema, { n: 1 }, {})).toEqual([]);
    expect(errorsOf(schema, { n: 1 }, { n: 2 })).toEqual(['n: Invalid value: 1: failed rule: self >= oldSelf']);
  });

  it('follow items of lists that are maps by their keys, and values of maps', () => {
    const items = object({ k: text, n: ruled(integer, grows) });
    const schema = object({
      list: listMap(items, 'k'),
      map: { type: 'object', additionalProperties: ruled(integer, grows) },
    });
    const old = {
      list: [
        { k: 'a', n: 1 },
        { k: 'b', n: 5 },
      ],
      map: { x: 3 },
    };
    expect(
      errorsOf(
        schema,
        {
          list: [
            { k: 'b', n: 4 },
            { k: 'c', n: 0 },
            { k: 'a', n: 1 },
          ],
          map: { x: 2, y: 0 },
        },
        old,
      ),
    ).toEqual([
      'list[0].n: Invalid value: 4: failed rule: self >= oldSelf',
      'map[x]: Invalid value: 2: failed rule: self >= oldSelf',
    ]);
  });

  it('with optionalOldSelf are evaluated always', () => {
    const rule = { rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self > 3', optionalOldSelf: true };
    const schema = object({ n: ruled(integer, rule) });
    expect(errorsOf(schema, { n: 1 })).toHaveLength(1);
    expect(errorsOf(schema, { n: 4 })).toEqual([]);
    expect(errorsOf(schema, { n: 1 }, { n: 1 })).toEqual([]);
    expect(errorsOf(schema, { n: 4 }, { n: 1 })).toHaveLength(1);
  });
});

describe('API-470 ratcheting', () => {
  const items = object({ k: text, n: ruled(integer, 'self > 5'), o: integer });

  it('a broken value that has not changed causes a warning', () => {
    const schema = object({ n: ruled(integer, 'self > 5'), other: integer });
    expect(errorsOf(schema, { n: 1, other: 2 }, { n: 1, other: 1 })).toEqual([]);
    expect(warningsOf(schema, { n: 1, other: 2 }, { n: 1, other: 1 })).toEqual([
      'n: Invalid value: 1: failed rule: self > 5',
    ]);
    expect(errorsOf(schema, { n: 2 }, { n: 1 })).toHaveLength(1);
    expect(errorsOf(schema, { n: 1 }, {})).toHaveLength(1);
  });

  it('items of lists that are maps are identified by keys, other items are not', () => {
    const old = [
      { k: 'a', n: 1, o: 1 },
      { k: 'b', n: 2, o: 1 },
    ];
    const swapped = [
      { k: 'b', n: 2, o: 2 },
      { k: 'a', n: 1, o: 1 },
    ];
    expect(errorsOf(object({ l: listMap(items, 'k') }), { l: swapped }, { l: old })).toEqual([]);
    expect(errorsOf(object({ l: { type: 'array', items } }), { l: swapped }, { l: old })).toHaveLength(2);
    expect(errorsOf(object({ l: { type: 'array', items } }), { l: old, x: 1 }, { l: old })).toEqual([]);
  });

  it('transition rules are never let off', () => {
    const schema = object({ n: ruled(integer, 'self > oldSelf') });
    expect(errorsOf(schema, { n: 1 }, { n: 1 })).toHaveLength(1);
  });

  it('kind and apiVersion are not compared, for both sides have been converted', () => {
    const schema = object({ kind: ruled(text, 'self == "X"') });
    expect(errorsOf(schema, { kind: 'Y' }, { kind: 'Y' })).toHaveLength(1);
  });
});

describe('API-471 budgets', () => {
  const list = Array.from({ length: 2000 }, (_, index) => index);
  const quadratic = 'self.all(a, self.all(b, a + b >= 0))';

  it('a rule that costs too much ends everything', () => {
    const schema = object({ l: ruled({ type: 'array', items: integer }, quadratic), z: ruled(integer, 'false') });
    expect(errorsOf(schema, { l: list, z: 1 })).toEqual([
      `l: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${quadratic}`,
    ]);
  });

  it('rules together may not cost more than the object may', () => {
    const schema = object({ a: ruled(integer, 'self > 0'), b: ruled(integer, 'self > 0'), c: ruled(integer, 'false') });
    const found = new RuleValidator(typedSchema(schema)).validate({ a: 1, b: 1, c: 1 }, { budget: 3 });
    expect(found.errors.map(formatFieldError)).toEqual([
      'b: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  it('messages count as well', () => {
    const rule = { rule: 'self < 0', messageExpression: '"n" + string(self) + string(self)' };
    const found = new RuleValidator(typedSchema(object({ a: ruled(integer, rule) }))).validate({ a: 1 }, { budget: 4 });
    expect(found.errors.map(formatFieldError)).toEqual([
      'a: Invalid value: "integer": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });
});
