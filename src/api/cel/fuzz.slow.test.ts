import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCelEnvironment } from './environment/cel-environment.ts';
import { CelBudgetExceededError, CelCompileError, CelEvaluationError } from './cel-error.ts';
import { type CelType, celTypes, listOf, mapOf, objectOf } from './cel-type.ts';

const { double, dyn, int, string } = celTypes;

const selfType: CelType = objectOf('selfType', {
  s: string,
  n: int,
  d: double,
  l: listOf(string),
  m: mapOf(string, int),
  o: objectOf('selfType.o', { s: string, l: listOf(int) }),
  t: celTypes.timestamp,
  any: dyn,
});
const environment = createCelEnvironment({ variables: { self: selfType, any: dyn } });

/** Checks that any expression over any data gives a value, or an error of one of three kinds, and never exceeds the limit by much. */
function holds(expression: string, data: unknown): void {
  const limit = 20_000;
  try {
    const program = environment.compile(expression);
    const { min, max } = program.estimateCost(selfType);
    expect(min).toBeGreaterThanOrEqual(0);
    expect(max).toBeGreaterThanOrEqual(0);
    const { error } = program.run({ self: data, any: data }, limit);
    if (error !== undefined) {
      expect(error instanceof CelEvaluationError || error instanceof CelBudgetExceededError).toBe(true);
      expect(error.message).not.toBe('');
    }
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    expect(error.message).not.toBe('');
  }
}

const words = (text: string): fc.Arbitrary<string> => fc.constantFrom(...text.trim().split(/\s+/));
const atom = fc.oneof(
  words(`self self.s self.n self.d self.l self.m self.o self.o.l self.t self.any any any.x x int
    1 -1 0 1u 1.5 "a" "😀" 'x.y' b"ab" true null [] {} [1,2] ["a"] {"a":1} 9223372036854775807`),
  words(`duration("1h") timestamp(0) optional.none() optional.of(self.n) quantity("1Gi") ip("::1") cidr("10.0.0.0/8")
    url("https://a/b?c=d") semver("1.2.3") format.dns1123Label() dyn(self.m) lists.range(5)`),
);
const binary = words('+ - * / % == != < <= > >= in && ||');
const method =
  words(`size contains startsWith endsWith matches find findAll split join replace substring indexOf lastIndexOf charAt
  lowerAscii trim format sum min max isSorted sort distinct flatten slice reverse getHours getFullYear value orValue or hasValue
  add sub isGreaterThan family containsIP getHost getQuery validate major compareTo first last unwrapOpt asInteger nope all map`);
const global =
  words(`size int uint double string bytes bool type dyn duration timestamp isIP ip cidr isCIDR url isURL quantity
  isQuantity semver isSemver has optional.of sets.contains strings.quote lists.range`);
const macro = fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter', 'sortBy', 'optMap', 'optFlatMap');
const macro2 = fc.constantFrom('all', 'exists', 'existsOne', 'transformList', 'transformMap', 'transformMapEntry');

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('expression'), binary, tie('expression')).map(([left, op, right]) => `(${left} ${op} ${right})`),
    fc
      .tuple(tie('expression'), method, fc.array(tie('expression'), { maxLength: 2 }))
      .map(([target, name, args]) => `${target}.${name}(${args.join(', ')})`),
    fc
      .tuple(global, fc.array(tie('expression'), { maxLength: 2 }))
      .map(([name, args]) => `${name}(${args.join(', ')})`),
    fc
      .tuple(tie('expression'), macro, tie('expression'))
      .map(([target, name, body]) => `${target}.${name}(x, ${body})`),
    fc
      .tuple(tie('expression'), macro2, tie('expression'))
      .map(([target, name, body]) => `${target}.${name}(x, y, ${body})`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('.', '.?'), fc.constantFrom('s', 'x', 'o', 'namespace'))
      .map((parts) => parts.join('')),
    fc
      .tuple(tie('expression'), fc.constantFrom('[', '[?'), tie('expression'))
      .map(([target, open, key]) => `${target}${open}${key}]`),
    fc.array(tie('expression'), { maxLength: 3 }).map((elements) => `[${elements.join(', ')}]`),
    fc.tuple(tie('expression'), tie('expression')).map(([key, value]) => `{${key}: ${value}}`),
    tie('expression').map((operand) => `!${operand}`),
    tie('expression').map((operand) => `-${operand}`),
  ),
}));

const data = fc.oneof(
  fc.record(
    {
      s: fc.oneof(fc.string(), fc.integer()),
      n: fc.oneof(fc.integer(), fc.constant(null)),
      d: fc.double({ noNaN: true }),
      l: fc.array(fc.string(), { maxLength: 30 }),
      m: fc.dictionary(fc.string(), fc.integer()),
      o: fc.oneof(fc.record({ s: fc.string(), l: fc.array(fc.integer()) }), fc.array(fc.string())),
      t: fc.constantFrom('2026-01-01T00:00:00Z', 'soon', ''),
      any: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('whatever the expression and the data', () => {
  it('nothing else is thrown', () => {
    fc.assert(fc.property(expression, data, holds), { numRuns: 3000 });
  });

  it('nor for texts that are no expressions', () => {
    const piece = fc.oneof(
      atom,
      binary,
      fc.constantFrom(
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '.',
        ',',
        '?',
        ':',
        '"',
        "'",
        '\\',
        '//',
        '\n',
        '`',
        '@',
        'b"',
        "r'",
      ),
      fc.string(),
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(fc.property(text, data, holds), { numRuns: 2000 });
  });

  it.each([
    'lists.range(9223372036854775807).all(x, x > 0)',
    'self.l.map(x, self.l.map(y, self.l)).flatten(3).distinct().size() > 0',
    '"a".replace("", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb").replace("", "cccccccccccccccccccccccccccccccc").replace("b", "ddddddddd").size() > 1',
    'self.l.join("x").split("").sort().sortBy(x, x).size() > 0',
    `optional.of(self.l)${'.optMap(x, x + x)'.repeat(60)}.value().size() > 0`,
    `optional.of(self.s)${'.optMap(x, x + x)'.repeat(60)}.value().size() > 0`,
    `"%s"${'.format(["%s%s"])'.repeat(50)}`,
    'self.l.exists(x, self.l.exists(y, self.l.exists(z, self.l.exists(w, x + y + z + w == "nope"))))',
  ])('%s ends', (heavy) => {
    holds(heavy, { s: 'abc', l: Array.from({ length: 1000 }, (_, index) => `item ${index}`) });
  });
});
