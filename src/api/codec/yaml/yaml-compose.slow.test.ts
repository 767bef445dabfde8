import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Composer, Parser, YAMLParseError } from 'yaml';

import { finished } from '../../../base/time/steps.ts';
import { MAX_OBJECT_MEMBERS } from '../json/body-values.ts';
import { composeFirst } from './yaml-compose.ts';
import { TextLines } from './yaml-lines.ts';
import { convertYamlNode } from './yaml-nodes.ts';
import { boundedTokens, tokenSteps, type YamlSource } from './yaml-tokens.ts';
import { PARSING, parseYaml, stringifyYaml, yamlSteps } from './yaml.ts';

type Read = (source: YamlSource) => ReturnType<typeof convertYamlNode> | string | undefined;

const atOnce: Read = (source) => {
  const [document] = new Composer(PARSING).compose(boundedTokens(source));
  const [problem] = document?.errors ?? [];
  return problem === undefined ? document && convertYamlNode(document, source) : `${problem.pos[0]} ${problem.message}`;
};

const inPieces: Read = (source) => {
  const composed = finished(
    composeFirst(tokenSteps(source), { length: source.text.length, options: PARSING, piece: 1 }),
  );
  if (composed?.problem !== undefined) return `${composed.problem.pos[0]} ${composed.problem.message}`;
  return composed && convertYamlNode(composed.document, source);
};

/** The value with its repeated keys, or the first error and its place. */
function outcome(read: Read, text: string): unknown {
  try {
    return read({ text, lines: new TextLines(text), longTexts: new Map() }) ?? 'no document';
  } catch (error) {
    return error instanceof YAMLParseError ? `${error.pos[0]} ${error.message}` : String(error);
  }
}

describe('YAML that is composed in pieces', () => {
  it.each([
    'a: 1\nb:\n  c: [d, {e: f}, g: h, "i"]\n  # comment\n  j: |\n    k\n    l\nm: &n [o]\np: *n\n',
    '- a\n- - b\n  - c: d\n    e: f\n-\n- g\n',
    '{a: [1, 2, {b: c}], "d": {e: f, g: }, h, ? i : j}',
    '%YAML 1.1\n%TAG !e! tag:example.com,2026:\n---\na: !e!x [b, !!str c]\n...\n---\nb: [',
    'a: [1, 2\nb: 3\n',
    '[1, 2',
    '[1, [2, 3',
    '{a: b}}',
    'a: [1,, 2]\n',
    'a: [, 1]\n',
    'a: [1 2, "x" y]\n',
    'a:\n  b: 1\n c: 2\n',
    'a:\n- b\n c\n',
    'a: {b: 1, b: 2}\na: 3\n',
    'a: !!map\n  b: c\nd: !!seq {e: f}\n',
    'a: &x\n  b: 1\nc:\n  <<: *x\n  d: *x\n',
    '&x\na: *x\n',
    'a:\tb\n\tc: d\n',
    '? [a, b]\n: c\n',
    '? a\n? b\n: - c\n',
    '- a: b\n   c: d\n',
    '"a": "b\n c"\n"d": \'e\n\n  f\'\n',
  ])('%j is read as in one piece', (text) => {
    expect(outcome(inPieces, text)).toEqual(outcome(atOnce, text));
  });

  it('any text is read as in one piece, with the same words for the same mistake', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.constantFrom('a', 'b c', 'x: y', '- z', 'k\nl\n', '#', ''), fc.integer(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'cc', '<<', 'd e'), tie('value'), {
          maxKeys: 4,
          noNullPrototype: true,
        }),
      ),
    }));
    const text = fc.oneof(
      value.map(stringifyYaml),
      value.map((each) => JSON.stringify(each, undefined, 1)),
      value.map((each) => JSON.stringify(each).replaceAll('"', '')),
    );
    const parts = [
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      ': ',
      '- ',
      '? ',
      '\n',
      ' ',
      '\t',
      '#',
      ' # c',
      '&a ',
      '*a',
      '!!map ',
      '!t ',
      '"',
      "'",
      '|',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
    ];
    const change = fc.record({ at: fc.nat(), remove: fc.nat(2), add: fc.constantFrom('', ...parts) });
    fc.assert(
      fc.property(text, fc.array(change, { maxLength: 3 }), (given, changes) => {
        let changed = given;
        for (const { at, remove, add } of changes) {
          const place = at % (changed.length + 1);
          changed = changed.slice(0, place) + add + changed.slice(place + remove);
        }
        expect(outcome(inPieces, changed)).toEqual(outcome(atOnce, changed));
      }),
      { numRuns: 3000 },
    );
  });

  /** The library reads the text as a whole. */
  const byTheLibrary: Read = (source) => {
    const [document] = new Composer(PARSING).compose(new Parser().parse(source.text));
    const [problem] = document?.errors ?? [];
    return problem === undefined
      ? document && convertYamlNode(document, source)
      : `${problem.pos[0]} ${problem.message}`;
  };

  const spaces = [' ', '  ', '\n ', '\n  ', ' \n\n  ', '\r\n ', '\r', '\t', '\n'.repeat(300), ' \n\t'.repeat(200)];
  const quotedParts = ['\\n', '\\\\', '\\"', '\\u00e9', '\\U0001F600', '\\\n  ', '\\\r\n\t', '\\\n\n', '\\ ', '\\x41'];

  it.each([
    ['between double quotes', '"', [...spaces, ...quotedParts, 'a', "'"]],
    ['between single quotes', "'", [...spaces, "''", "''''", 'a', '"', '\\']],
    [
      'without quotes',
      '',
      [...spaces.map((each) => `${each.replaceAll('\n', '\n ')}a`), "'", '"', '\\', 'a', ',', '%', '#'],
    ],
  ])('a long text %s has the value that the library gives it', (_what, quote, parts) => {
    const text = fc.array(fc.constantFrom(...parts), { minLength: 5, maxLength: 40 });
    fc.assert(
      fc.property(text, fc.nat(5000), fc.nat(40), (given, padding, times) => {
        const long = `${'x'.repeat(padding)}${given.join('').repeat(times)}x\n x`.replaceAll(/\n(?! |\r?\n)/g, '\n ');
        const whole = `- ${quote}${long}${quote} # comment\n- 1\n- [a, ${quote}${long}${quote}, b]\n`;
        expect(outcome(inPieces, whole)).toEqual(outcome(byTheLibrary, whole));
      }),
      { numRuns: 150 },
    );
  });

  it('a long text after | or > has the value that the library gives it, and is refused with the same words', () => {
    const line = fc.constantFrom(
      '',
      'a',
      ' a',
      '  b',
      '   ',
      ' ',
      '\r',
      'c\r',
      '\t',
      '\td',
      '    ',
      'a b ',
      '    e',
      '#',
    );
    const text = fc.array(line, { minLength: 1, maxLength: 12 });
    const header = fc.tuple(
      fc.constantFrom('|', '>'),
      fc.constantFrom('', '1', '2', '4'),
      fc.constantFrom('', '-', '+'),
    );
    const around = fc.constantFrom('', '- ', 'k: ', '- - k: ', '- k:\n  - ');
    const rest = fc.record({
      margin: fc.nat(6),
      times: fc.nat(200),
      end: fc.constantFrom('', '\n', '\n\n\n', '\n   ', '\n# c\n', '\n\t'),
    });
    fc.assert(
      fc.property(around, header, text, text, rest, (before, given, leading, lines, { margin, times, end }) => {
        const indented = (all: string[]): string => all.map((each) => `${' '.repeat(margin)}${each}`).join('\n');
        const long = `${indented(leading)}\n${`${indented(lines)}\n`.repeat(times)}${'y'.repeat(margin)}`;
        const whole = `--- # first\n${before}${given.join('')} # comment\n${long}${end}`;
        expect(outcome(inPieces, whole)).toEqual(outcome(byTheLibrary, whole));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    [
      'an escape that does not exist',
      `a: "${'x'.repeat(10_000)}\\q"`,
      'Invalid escape sequence \\q at line 1, column 10005:',
    ],
    ['no second quote', `a: "${' x\n'.repeat(10_000)}`, 'Missing closing "quote at line 10001, column 1:'],
  ])('a long text with %s is refused, with its place', (_what, text, words) => {
    expect(() => parseYaml(text)).toThrow(words);
  });

  it('an object of too many members is a 413, as in other encodings', () => {
    const text = `a:\n${Array.from({ length: MAX_OBJECT_MEMBERS + 1 }, (_, at) => `  k${at}: v\n`).join('')}`;
    expect(() => parseYaml(text)).toThrow(`limit is ${MAX_OBJECT_MEMBERS} members in one object`);
  });

  const pausesOf = (text: string): number => {
    const steps = yamlSteps(text);
    let pauses = 0;
    while (steps.next().done !== true) pauses++;
    return pauses;
  };

  it('pauses after each hundred tokens and each four thousand characters', () => {
    expect(pausesOf(`a:\n${Array.from({ length: 5000 }, (_, at) => `  k${at}: v\n`).join('')}`)).toBeGreaterThan(400);
  });

  it.each([
    ['after |', '|', '\n    abcde', ''],
    ['after >', '>', '\n    a\n\n     c', ''],
    ['that are empty', '|\n    a', '\n', '    b'],
    ['without quotes', 'a', '\n    abcde', ''],
    ['between single quotes', "'", "\n    a''b", "'"],
    ['between double quotes', '"', '\n    ab\\u0061', '"'],
  ])('pauses some hundred times in a text of very many lines %s', (_what, before, line, after) => {
    const text = `a: ${before}${line.repeat(Math.floor(1_000_000 / line.length))}${after}\n`;
    expect(pausesOf(text)).toBeGreaterThan(200);
  });
});
