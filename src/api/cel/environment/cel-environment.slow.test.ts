import { describe, expect, it } from 'vitest';
import { CelBudget } from '../cel-budget.ts';
import { createCelEnvironment } from './cel-environment.ts';
import { CelBudgetExceededError, CelCompileError, CelEvaluationError } from '../cel-error.ts';
import { type CelType, celTypes, listOf, mapOf, objectOf } from '../cel-type.ts';

const { bool, double, dyn, int, string } = celTypes;

const selfType = objectOf('selfType', {
  name: string,
  replicas: int,
  ratio: double,
  tags: listOf(string),
  labels: mapOf(string, string),
  nested: objectOf('selfType.nested', { inner: listOf(objectOf('selfType.nested.inner.@idx', { value: int })) }),
});
const environment = createCelEnvironment({ variables: { self: selfType, any: dyn } });
const data = {
  self: {
    name: 'web',
    replicas: 3,
    ratio: 1,
    tags: ['b', 'a', 'c'],
    labels: { app: 'web', tier: 'front' },
    nested: { inner: [{ value: 1 }, { value: 2 }] },
  },
  any: { text: 'x', count: 2, list: [1, 'a', null], 'odd-key': true },
};

function evaluate(expression: string, variables: Record<string, unknown> = data): unknown {
  return environment.compile(expression).evaluate(variables, { budget: new CelBudget() });
}

/** The message of the error that ends the evaluation. */
function failure(expression: string): string {
  try {
    return `no failure but ${JSON.stringify(evaluate(expression))}`;
  } catch (error) {
    if (error instanceof CelEvaluationError || error instanceof CelBudgetExceededError) return error.message;
    throw error;
  }
}

function compileFailure(expression: string, expected?: CelType): string {
  try {
    environment.compile(expression, expected);
    return 'compiles';
  } catch (error) {
    if (error instanceof CelCompileError) return error.message;
    throw error;
  }
}

describe('language', () => {
  it.each<[string, unknown]>([
    ['1 + 2 * 3 - 4 / 2', 5],
    ['-7 / 2', -3],
    ['-7 % 3', -1],
    ['7u % 4u', 3],
    ['1.5 * 2.0', 3],
    ['-(1)', -1],
    ['9223372036854775807 > 9223372036854775806', true],
    ['-9223372036854775808 < 0', true],
    ['1 < 2.5 && 2u > 1 && 1.0 <= 1u', true],
    ['"a" < "b" && b"a" < b"b" && false < true', true],
    ['"\\uFFFF" < "\\U0001F600"', true],
    ['dyn(1) == dyn(1.0) && dyn(1) == dyn(1u) && dyn(1) != dyn("1")', true],
    ['[1, 2] == [1, 2] && [1, 2] != [2, 1]', true],
    ['{"a": 1, "b": 2} == {"b": 2, "a": 1}', true],
    ['"a" + "b" + string(1)', 'ab1'],
    ['[1] + [2, 3]', [1, 2, 3]],
    ['true ? "yes" : "no"', 'yes'],
    ['2 in [1, 2] && !(3 in [1, 2]) && "a" in {"a": 1}', true],
    ['{"a": [1, 2]}.a[1]', 2],
    ['{1: "x"}[1] + {true: "y"}[true]', 'xy'],
    ['size("héllo😀") + size([1]) + {"a": 1}.size() + b"abc".size()', 11],
    ['type(1) == int && type("") == string && type(null) == null_type && type(type(1)) == type', true],
    ['type(timestamp("2026-01-01T00:00:00Z")) == google.protobuf.Timestamp', true],
    ['r"\\d" == "\\\\d"', true],
    ['null == dyn(null)', true],
    ['// a comment\n1', 1],
    ['{"constructor": 1, "__proto__": 2}["__proto__"]', 2],
  ])('%s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each<[string, unknown]>([
    ['[1, 2, 3].all(x, x > 0)', true],
    ['[1, 2, 3].exists(x, x > 2)', true],
    ['[1, 2, 3].exists_one(x, x > 1)', false],
    ['[1, 2, 3].map(x, x * 2)', [2, 4, 6]],
    ['[1, 2, 3].map(x, x > 1, x * 2)', [4, 6]],
    ['[1, 2, 3].filter(x, x % 2 == 1)', [1, 3]],
    ['{"a": 1, "b": 2}.all(k, k in ["a", "b"])', true],
    ['[[1, 2], [3]].map(xs, xs.map(x, x + size(xs)))', [[3, 4], [4]]],
    [
      '[1, 2].map(x, [10, 20].map(y, x * y))',
      [
        [10, 20],
        [20, 40],
      ],
    ],
    ['[3, 1].all(i, v, i + v == 3 || i == 1)', true],
    ['{"a": 1}.exists(k, v, k == "a" && v == 1)', true],
    ['[5, 6].transformList(i, v, i * v)', [0, 6]],
    ['[5, 6].transformList(i, v, v > 5, v)', [6]],
    ['{"a": 1, "b": 2}.transformMap(k, v, v * 10)', { a: 10, b: 20 }],
    ['{"a": 1, "b": 2}.transformMap(k, v, v > 1, v)', { b: 2 }],
    ['["x", "y"].transformMapEntry(i, v, {v: i})', { x: 0, y: 1 }],
    ['[1, 0, 2].exists(x, 2 / x == 1)', true],
    ['[0, 2].all(x, 2 / x == 5)', false],
    ['[].all(x, x > 0) && ![].exists(x, x > 0)', true],
  ])('macro %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each<[string, unknown]>([
    ['self.?name.orValue("none")', 'web'],
    ['any.?missing.orValue(dyn("none"))', 'none'],
    ['any.?missing.?deeper.hasValue()', false],
    ['self.labels[?"app"].value()', 'web'],
    ['self.tags[?9].hasValue()', false],
    ['optional.of(1).or(optional.of(2)).value()', 1],
    ['optional.none().orValue(3)', 3],
    ['optional.ofNonZeroValue("").hasValue()', false],
    ['self.?replicas.optMap(r, r + 1).orValue(0)', 4],
    ['any.?missing.optMap(r, r).hasValue()', false],
    ['self.labels[?"tier"].optFlatMap(t, optional.of(t + "!")).value()', 'front!'],
    ['optional.of(self).name.value()', 'web'],
    ['[optional.of(1), optional.none()].unwrapOpt()', [1]],
    ['[1, 2].first().value() + [1, 2].last().value()', 3],
  ])('optional %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it.each<[string, unknown]>([
    ['self.replicas + 1 == 4 && self.ratio == 1.0 && type(self.ratio) == double', true],
    ['has(self.name) && !has(any.missing) && has(any.text)', true],
    ['self.nested.inner.map(i, i.value)', [1, 2]],
    ['any.count + 1', 3],
    ['any["odd-key"]', true],
    ['any.list[2] == null', true],
    ['self.labels.map(k, self.labels[k]).size()', 2],
    ['size(self.tags)', 3],
    ['self.tags.sortBy(t, t)', ['a', 'b', 'c']],
  ])('variables: %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  it('errors are absorbed by what decides alone', () => {
    expect(evaluate('1 / 0 == 1 || true')).toBe(true);
    expect(evaluate('1 / 0 == 1 && false')).toBe(false);
    expect(failure('1 / 0 == 1 || false')).toBe('division by zero');
  });

  it.each([
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'modulus by zero'],
    ['9223372036854775807 + 1', 'integer overflow'],
    ['-9223372036854775808 - 1', 'integer overflow'],
    ['0u - 1u', 'unsigned integer overflow'],
    ['any.missing', 'no such key: missing'],
    ['self.labels["x"]', 'no such key: x'],
    ['[1][1]', 'index out of bounds: 1'],
    ['[1][-1]', 'index out of bounds: -1'],
    ['any.text + 1', 'no such overload'],
    ['any.text > 1', 'no such overload'],
    ['int("x")', "type conversion error from 'string' to 'int'"],
    ['timestamp(any.text)', "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
    ['any.count.startsWith("a")', 'no such overload: startsWith(int, string)'],
    ['optional.none().value()', 'optional.none() dereference'],
    ['{"a": 1, "a": 2}', 'insert failed: key a already exists'],
  ])('fails: %s', (expression, message) => {
    expect(failure(expression)).toBe(message);
  });
});

describe('what does not compile', () => {
  it.each([
    ['self.nope', "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^"],
    ['nope', "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^"],
    [
      'self.replicas == "3"',
      "ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(int, string)'\n | self.replicas == \"3\"\n | ..............^",
    ],
    [
      'self.name.startsWith(3)',
      "ERROR: <input>:1:21: found no matching overload for 'startsWith' applied to 'string.(int)'\n | self.name.startsWith(3)\n | ....................^",
    ],
    [
      'self.tags.all(t, t)',
      "ERROR: <input>:1:18: expected type 'bool' but found 'string'\n | self.tags.all(t, t)\n | .................^",
    ],
    [
      'self.replicas.all(t, t)',
      "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | self.replicas.all(t, t)\n | ....^",
    ],
    [
      'self.tags.all(t.x, true)',
      'ERROR: <input>:1:17: argument must be a simple name\n | self.tags.all(t.x, true)\n | ................^',
    ],
    ['has(self)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n | ....^'],
    ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"],
    ["'a'.matches('[')", "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[')\n | ............^"],
    [
      "duration('x') > duration('1s')",
      "ERROR: <input>:1:10: invalid duration argument\n | duration('x') > duration('1s')\n | .........^",
    ],
    ['9223372036854775808', 'ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^'],
    ['nope(1)', "ERROR: <input>:1:5: undeclared reference to 'nope' (in container '')\n | nope(1)\n | ....^"],
    [
      'cel.bind(x, 1, x)',
      "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel.bind(x, 1, x)\n | ^",
    ],
  ])('%s', (expression, message) => {
    expect(compileFailure(expression).split('\nERROR')[0]).toBe(message);
  });

  it('every issue is reported, in the order of the source', () => {
    const message = compileFailure('self.a\n  || self.b');
    expect(message.split('\n').filter((line) => line.startsWith('ERROR'))).toEqual([
      "ERROR: <input>:1:5: undefined field 'a'",
      "ERROR: <input>:2:10: undefined field 'b'",
    ]);
  });

  it('a text that is no expression is a syntax error at its place', () => {
    expect(compileFailure('1 +')).toMatch(/^ERROR: <input>:1:4: Syntax error: /);
    expect(compileFailure('')).toMatch(/^ERROR: <input>:1:1: Syntax error: /);
    expect(compileFailure('"a')).toMatch(/^ERROR: <input>:1:1: Syntax error: /);
  });

  it('the type asked for is held', () => {
    expect(compileFailure('1', bool)).toMatch(/must evaluate to bool/);
    expect(compileFailure('true', bool)).toBe('compiles');
    expect(compileFailure('any.x', dyn)).toBe('compiles');
  });

  it.each([
    [20_000, true],
    [20_001, false],
    [90_000, true],
  ])('%i negations are compiled, as by cel-go', (count, value) => {
    expect(evaluate(`${'!'.repeat(count)}true`)).toBe(value);
    expect(evaluate(`self.replicas == -1 || ${'! '.repeat(count / 2)}${'!'.repeat(count % 2)}true`)).toBe(
      Math.ceil(count / 2) % 2 === 0,
    );
    expect(evaluate(`"${'!'.repeat(count)}".size()`)).toBe(count);
  });

  it('nesting beyond measure is refused, long rows are not', () => {
    expect(compileFailure('('.repeat(5000) + '1' + ')'.repeat(5000))).toMatch(/^ERROR/);
    expect(compileFailure('-'.repeat(90_000) + '1')).toMatch(/recursion limit exceeded/);
    expect(compileFailure(`1${' + 1'.repeat(5000)}`)).toMatch(/recursion limit exceeded/);
    expect(evaluate(Array.from({ length: 3000 }, (_, index) => `self.replicas == ${index}`).join(' || '))).toBe(true);
    expect(compileFailure('1'.repeat(100_001))).toMatch(/size exceeds limit/);
  });
});

describe('budget', () => {
  const heavy = 'self.tags.all(a, self.tags.all(b, self.tags.all(c, a + b + c != "")))';
  const tags = Array.from({ length: 300 }, (_, index) => `tag-${index}`);

  it('a call that costs too much is stopped', () => {
    const program = environment.compile(heavy);
    const budget = new CelBudget();
    expect(() => program.evaluate({ self: { tags } }, { budget })).toThrow(
      'operation cancelled: actual cost limit exceeded',
    );
    expect(budget.remaining).toBeLessThan(10_000_000 - 999_999);
  });

  it('the calls about one object share a budget', () => {
    const program = environment.compile('self.tags.all(a, a != "")');
    const budget = new CelBudget({ total: 100 });
    expect(program.evaluate({ self: { tags: ['a'] } }, { budget })).toBe(true);
    expect(() => program.evaluate({ self: { tags } }, { budget })).toThrow(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    );
    expect(budget.remaining).toBe(0);
  });

  it('is not absorbed by logical operators', () => {
    const program = environment.compile(`${heavy} || true`);
    expect(program.run({ self: { tags } }, 1000).error).toBeInstanceOf(CelBudgetExceededError);
  });

  it.each([
    ['self.name', 2],
    ['self.name == "web"', 2 + 1],
    ['has(self.nested.inner)', 2],
    ['1 + 2', 1],
    ['self.tags.all(t, t != "")', 2 + 3 * (2 + 1 + 1 + 0) + 1],
    ['self.tags.exists(t, t == "a")', 2 + (3 + 1 + 1 + 1) * 2 + 3 + 1],
    ['[1, 2].map(x, x)', 2 * (1 + 1 + 10 + 1) + 1],
    ['[1, 2].filter(x, x > 1)', 2 * (1 + 1) + (1 + 1 + 10 + 1) + 1],
    ['{"a": 1}.a', 2],
    ['{"a": self.replicas}.a', 2 + 30 + 2],
    ['[self.replicas, 1]', 2 + 10],
    ['self.name in ["web", "x"]', 2],
    ['self.name in self.tags', 2 + 2 + 3],
    ['self.labels[self.name] == "" || true', 2 + 2 + 1],
    ['self.labels["app"]', 2 + 1],
    ['self.nested.inner[0].value', 5],
    ['true ? self.name : ""', 1],
    ['any.text == any.missing || true', 2 + 2 + 1],
    ['self.tags.exists_one(t, t == "a")', 2 + 3 * (1 + 1) + 2 + (1 + 1)],
    ['int("7") + 1', 1],
    ['self.?name.orValue("")', 2],
    ['any.?missing.hasValue()', 1 + 1],
    ['"a".matches("b")', 1],
    ['"aaaaaaaaaa".startsWith("b")', 1],
    ['[1, 2, 3].sum()', 3],
    ['sets.contains([1, 2], [1])', 1 + 2],
    ['url("https://example.com/").getHost()', 2 + 1],
    ['true || self.name == ""', 0],
    ['true ? 1 : size(self.name)', 0],
  ])('cost of %s', (expression, cost) => {
    const outcome = environment.compile(expression).run(data, 1_000_000);
    expect(outcome.error).toBeUndefined();
    expect(outcome.cost).toBe(cost);
  });

  it.each<[string, number, number]>([
    ['self.name', 2, 2],
    ['self.name == "web"', 2 + 1, 2 + 1],
    ['has(self.nested.inner)', 2, 2],
    ['self.tags.all(t, t != "")', 2 + 1, 2 + 1 + 10 * (2 + 1 + 1)],
    ['self.tags.all(t, self.tags.exists(u, u == t))', 3, 3 + 10 * (3 + 2 + 1 + 10 * (4 + 2 + 1))],
    ['self.name.matches("[a-z]+")', 2 + 2, 2 + 3 * 2],
    ['self.replicas > 1 && self.replicas < 5', 3, 6],
    ['self.labels.all(k, self.labels[k] != "")', 3, 3 + 5 * (3 + 2 + 1 + 1 + 0)],
    ['[1, 2].map(x, x + 1)', 10 + 10 + 2 * 14 + 1, 10 + 10 + 2 * 14 + 1],
    ['any.x.all(y, y)', 2, 2 ** 64],
  ])('estimate of %s', (expression, min, max) => {
    const sizes: CelType = {
      kind: 'object',
      name: 'selfType',
      fields: {
        name: { type: { ...string, maxElements: 20 } },
        tags: { type: { ...listOf({ ...string, maxElements: 10 }), maxElements: 10 } },
        labels: {
          type: {
            kind: 'map',
            key: { ...string, maxElements: 0 },
            value: { ...string, maxElements: 5 },
            maxElements: 5,
          },
        },
      },
    };
    const estimate = environment.compile(expression).estimateCost(sizes);
    expect(estimate.max).toBe(max);
    expect(estimate.min).toBe(min);
  });
});
