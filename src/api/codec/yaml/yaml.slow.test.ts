import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { StatusError } from '../../status-error.ts';
import { integerValue, parseExactJson, stringifyExactJson } from '../../../base/json/exact-json.ts';
import { parseYaml, parseYamlDocuments, parseYamlStrict, stringifyYaml } from './yaml.ts';

function failure(text: string): string {
  try {
    parseYaml(text);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('YAML', () => {
  it.each<[string, unknown]>([
    ['y', true],
    ['yes', true],
    ['On', true],
    ['TRUE', true],
    ['n', false],
    ['No', false],
    ['off', false],
    ['yEs', 'yEs'],
    ['"yes"', 'yes'],
    ["'no'", 'no'],
    ['!!str yes', 'yes'],
    ['~', null],
    ['null', null],
    ['', null],
    ['12', 12],
    ['-12', -12],
    ['+12', 12],
    ['0644', 420],
    ['0o644', 420],
    ['08', 8],
    ['0x1F', 31],
    ['-0x10', -16],
    ['0b101', 5],
    ['1_000', 1000],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['-1.5E-2', -0.015],
    ['1.0', 1],
    ['1.2.3', '1.2.3'],
    ['10:30', '10:30'],
    ['190:20:30', '190:20:30'],
    ['2001-12-14', '2001-12-14'],
    ['2001-12-14T21:59:43Z', '2001-12-14T21:59:43Z'],
    ['100m', '100m'],
    ['=', '='],
    ['1e', '1e'],
    ['0x', '0x'],
    ['_1', '_1'],
    ['|\n  a\n  b\n', 'a\nb\n'],
    ['{a: 1, b: [yes, "yes"]}', { a: 1, b: [true, 'yes'] }],
    ['on: 1\n2: x\n"3": v\n1.5: z', { true: 1, 2: 'x', 3: 'v', '1.5': 'z' }],
    ['# only a comment', null],
    ['%YAML 1.1\n---\na: on', { a: true }],
  ])('API-028 %j is %j', (text, expected) => {
    expect(parseYaml(text)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['9007199254740993', 9007199254740993n],
    ['-9_223_372_036_854_775_808', -9223372036854775808n],
    ['0x7fffffffffffffff', 9223372036854775807n],
    ['0777777777777777777777', 9223372036854775807n],
    ['9223372036854775808', 2 ** 63],
    [`-1${'0'.repeat(80)}`, -1e80],
    ['9007199254740993: x', { '9007199254740993': 'x' }],
  ])('%s is exact', (text, expected) => {
    expect(parseYaml(text)).toEqual(expected);
  });

  it('anchors, aliases and merge keys are resolved; what comes later wins, and of several merged the first', () => {
    const text =
      'base: &b {a: 1, b: 2}\nx:\n  <<: *b\n  b: 3\nv:\n  b: 3\n  <<: *b\nw:\n  <<: [{c: 1}, *b, {a: 9}]\nz: *b\n"<<": s\n';
    expect(parseYaml(text)).toEqual({
      base: { a: 1, b: 2 },
      x: { a: 1, b: 3 },
      v: { a: 1, b: 2 },
      w: { a: 1, b: 2, c: 1 },
      z: { a: 1, b: 2 },
      '<<': 's',
    });
  });

  it('an anchor may be used many times', () => {
    const value = parseYaml(`a: &a {b: 1}\nc:\n${'- *a\n'.repeat(1000)}`) as { c: unknown[] };
    expect(value.c).toHaveLength(1000);
  });

  it('a bomb of aliases is refused', () => {
    const levels = Array.from(
      { length: 10 },
      (_, n) => `l${n + 1}: &l${n + 1} [${Array(10).fill(`*l${n}`).join(',')}]`,
    );
    expect(failure(`l0: &l0 x\n${levels.join('\n')}`)).toContain('document contains excessive aliasing');
  });

  it.each([
    ['a: b: c', 'yaml: '],
    ['a: [1', 'yaml: '],
    ['a: *nowhere', 'yaml: '],
    ['a: .nan', 'unsupported value: NaN'],
    ['<<: 1', 'map merge requires'],
    ['? [a]\n: b', 'unsupported map key'],
  ])('%j is 400', (text, problem) => {
    const message = failure(text);
    expect(message).toMatch(/^error converting YAML to JSON: yaml: /);
    expect(message).toContain(problem);
  });

  it('nesting is bounded', () => {
    expect(failure('['.repeat(50_000))).toContain('exceeded max depth');
    expect(failure('['.repeat(1_500) + ']'.repeat(1_500))).toContain('exceeded max depth');
    expect(failure(`a: ${'- '.repeat(1_500)}b`)).toContain('yaml: ');
  });

  it('API-231 a repeated key is reported with the line of its value, the last value wins', () => {
    const text = 'spec:\n  replicas: 1\n  replicas: 2\n  list:\n  - {a: 1, a: 2}\n  m: {<<: {q: 1}, q: 2}\n';
    expect(parseYamlStrict(text)).toEqual({
      value: { spec: { replicas: 2, list: [{ a: 2 }], m: { q: 2 } } },
      repeated: [
        'line 3: key "replicas" already set in map',
        'line 5: key "a" already set in map',
        'line 6: key "q" already set in map',
      ],
    });
  });

  it.each([
    ['a: 1\na:\n\n  x: 1\n', ['line 4: key "a"']],
    ['a: 1\na:\n- 1\n', ['line 3: key "a"']],
    ['a: 1\na: |\n  text\n', ['line 2: key "a"']],
    ['a: 1\na:\nb: 1', ['line 2: key "a"']],
    ['a: &x 1\na: *x\n', ['line 2: key "a"']],
    ['a: 1\na: &x\n  b: 1\n', ['line 2: key "a"']],
    ['a: 1\na: !!str\n  b\n', ['line 2: key "a"']],
    ['a: 1\na: "b\n  c"\n', ['line 2: key "a"']],
    ['{\n"a": 1,\n"a": {\n"b": 1,\n"b": 2}}', ['line 5: key "b"', 'line 3: key "a"']],
    ['1: a\n1: b\n"1": c\ntrue: d\nyes: e\n', ['line 2: key 1', 'line 5: key true']],
    ['x: &x {a: 1, a: 2}\nz: *x\n', ['line 1: key "a"', 'line 1: key "a"']],
    ['b: 3\n<<:\n- b: 1\n- b: 2\n', ['line 4: key "b"', 'line 3: key "b"']],
    ['"k\\n": 1\n"k\\n": 2\n', [String.raw`line 2: key "k\n"`]],
  ])('API-231 repeated keys of %j', (text, repeated) => {
    expect(parseYamlStrict(text).repeated).toEqual(repeated.map((one) => `${one} already set in map`));
  });

  it('API-231 the number of reported repeated keys is bounded', () => {
    expect(parseYamlStrict('a: 1\n'.repeat(2000)).repeated).toHaveLength(1000);
  });

  it('documents are separated, empty ones left out; one object is the first document', () => {
    const text = '---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n';
    expect(parseYamlDocuments(text)).toEqual([{ a: 1 }, { b: 2 }]);
    expect(parseYaml(text)).toEqual({ a: 1 });
    expect(parseYamlDocuments('')).toEqual([]);
  });

  it('JSON is YAML', () => {
    expect(parseYaml('{"a": "\\u00e9\\n", "b": [true, null, 1.5e3]}')).toEqual({ a: 'é\n', b: [true, null, 1500] });
  });

  it('is printed with sorted keys and flat lists, and ambiguous texts quoted', () => {
    expect(
      stringifyYaml({ b: [{ y: 'yes', x: 1 }], a: 'x\ny\n', c: {}, d: '0644', e: '1:30', f: null, g: '2001-01-01' }),
    ).toBe('a: |\n  x\n  y\nb:\n- x: 1\n  "y": "yes"\nc: {}\nd: "0644"\ne: "1:30"\nf: null\ng: "2001-01-01"\n');
  });

  it('printed text parses to the same', () => {
    const tricky = fc.constantFrom(
      'y',
      'No',
      '~',
      '',
      '0o7',
      '1_0',
      '.inf',
      '<<',
      '-',
      '? a',
      'a: b',
      '#',
      '0x1',
      ' a',
      '1e3',
      '!a',
      '&a',
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(
          fc.string(),
          tricky,
          fc.integer(),
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerValue),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
          fc.constant(null),
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string(), tricky), tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (input) => {
        expect(parseYaml(stringifyYaml(input))).toEqual(parseExactJson(stringifyExactJson(input)));
      }),
      { numRuns: 300 },
    );
  });
});
