import { NAMED_ESCAPES } from '../../meta/quoted.ts';
import type { CallCost } from '../call-cost.ts';
import { containsCost, elementsCost, patternCost, sizeOf, traversalCost, TRAVERSAL } from '../call-cost.ts';
import { CelEvaluationError } from '../cel-error.ts';
import { celTypes, listOf } from '../cel-type.ts';
import { asInt, asList, asText, type CelValue, costSize, textSize, ValueList } from '../cel-value.ts';
import { type CelFunctions, member, overload } from '../function-declaration.ts';
import { add, type Estimate, fixed, multiply, scale, unknownSize, UNBOUNDED } from '../size-estimate.ts';
import { matchesPattern } from './regex.ts';
import { formatText } from './string-format.ts';

const { bool, dyn, int, string } = celTypes;

/** Maximum length of a result, because `replace` and `join` can multiply lengths at little cost. A request holds 3 MiB. */
const MAX_RESULT = 16 * 1024 * 1024;

function bounded(length: number): void {
  if (length > MAX_RESULT) throw new CelEvaluationError(`result of more than ${MAX_RESULT} characters`);
}

/** Positions in CEL count code points, which differ from UTF-16 units only in texts with characters beyond the BMP. */
function characters(text: string): readonly string[] | string {
  return textSize(text) === text.length ? text : [...text];
}

function outOfRange(index: bigint): CelEvaluationError {
  return new CelEvaluationError(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): string {
  const all = characters(text);
  if (index < 0n || index > all.length) throw outOfRange(index);
  return all[Number(index)] ?? '';
}

function substring(text: string, start: bigint, end: bigint | undefined): string {
  const all = characters(text);
  if (end !== undefined && start > end) {
    throw new CelEvaluationError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > all.length) throw outOfRange(start);
  if (end !== undefined && (end < 0n || end > all.length)) throw outOfRange(end);
  const part = all.slice(Number(start), end === undefined ? undefined : Number(end));
  return typeof part === 'string' ? part : part.join('');
}

/** Converts a position in code points to UTF-16 units. */
function unitsOf(text: string, index: number): number {
  const all = characters(text);
  return typeof all === 'string' ? index : all.slice(0, index).join('').length;
}

function charactersOf(text: string, units: number): bigint {
  return units < 0 ? -1n : BigInt(textSize(text.slice(0, units)));
}

function indexOf(text: string, part: string, from: bigint): bigint {
  if (from < 0n) throw outOfRange(from);
  const size = textSize(text);
  if (part === '') return from > size ? BigInt(size) : from;
  if (from >= size) return -1n;
  return charactersOf(text, text.indexOf(part, unitsOf(text, Number(from))));
}

function lastIndexOf(text: string, part: string, from: bigint | undefined): bigint {
  if (from !== undefined && from < 0n) throw outOfRange(from);
  const size = textSize(text);
  if (part === '') return from === undefined || from > size ? BigInt(size) : from;
  if (from === undefined) return charactersOf(text, text.lastIndexOf(part));
  if (from >= size) return -1n;
  return charactersOf(text, text.lastIndexOf(part, unitsOf(text, Number(from))));
}

/** A negative `count` replaces all occurrences. */
function replace(text: string, { part, by, count }: { part: string; by: string; count: bigint }): string {
  const pieces = splitAll(text, part);
  const limit = count < 0n ? Infinity : Number(count);
  const kept = part === '' ? ['', ...pieces, ''] : pieces;
  bounded(text.length + Math.min(kept.length, limit) * by.length);
  let replaced = kept[0] ?? '';
  for (const [index, piece] of kept.slice(1).entries()) replaced += (index < limit ? by : part) + piece;
  return replaced;
}

/** Splits into code points if the separator is empty. */
function splitAll(text: string, separator: string): string[] {
  return separator === '' ? [...text] : text.split(separator);
}

function split(text: string, separator: string, count: bigint): CelValue {
  if (count === 0n) return new ValueList([]);
  const parts = splitAll(text, separator);
  if (count < 0n || count >= parts.length) return new ValueList(parts);
  const kept = parts.slice(0, Number(count) - 1);
  return new ValueList([...kept, parts.slice(Number(count) - 1).join(separator)]);
}

function join(list: CelValue, separator: string): string {
  const parts: string[] = [];
  let length = 0;
  for (const element of asList(list)) {
    if (typeof element !== 'string') throw new CelEvaluationError(`join: invalid input: ${String(element)}`);
    length += element.length + separator.length;
    bounded(length);
    parts.push(element);
  }
  return parts.join(separator);
}

/** Upper or lower case of ASCII letters only. */
function asciiCase(text: string, to: 'upper' | 'lower'): string {
  return to === 'upper'
    ? text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
    : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is escaped
  return `"${text.replace(/[\u0007\b\f\n\r\t\v\\"]/g, (character) => NAMED_ESCAPES[character] ?? character)}"`;
}

/** The size of the result, from the number and length of possible replacements. */
function replacedSize(text: Estimate, part: Estimate, by: Estimate): Estimate {
  const longest =
    part.min === 0
      ? { count: text.max + 1, kept: text.max }
      : by.max <= part.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / part.min), kept: 0 };
  const shortest =
    part.max === 0
      ? { count: text.min + 1, kept: text.min }
      : part.max <= by.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / part.max), kept: 0 };
  return add(multiply({ min: shortest.count, max: longest.count }, by), { min: shortest.kept, max: longest.kept });
}

const replaceCost: CallCost = {
  ...traversalCost({ times: 2 }),
  estimate: ([text, part, by]) => ({
    ...scale(sizeOf(text), 2 * TRAVERSAL),
    resultSize: replacedSize(sizeOf(text), sizeOf(part), sizeOf(by)),
  }),
};

const splitCost: CallCost = {
  ...traversalCost({ times: 2 }),
  estimate: ([text, , count]) => {
    const max = typeof count?.literal === 'bigint' && count.literal >= 0n ? Number(count.literal) : sizeOf(text).max;
    return { ...scale(sizeOf(text), 2 * TRAVERSAL), resultSize: { min: 0, max } };
  },
};

const joinCost: CallCost = {
  when: 'after',
  actual: (_, result) => Math.ceil(costSize(result) * 2 * TRAVERSAL),
  estimate: ([list, separator]) => {
    const count = sizeOf(list);
    const elements = list?.type.kind === 'list' ? multiply(count, list.elementSize ?? unknownSize) : fixed(0);
    const between = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) };
    const resultSize = separator === undefined ? elements : add(elements, multiply(sizeOf(separator), between));
    return { ...scale(resultSize, TRAVERSAL), resultSize };
  },
};

const quoteCost: CallCost = {
  ...traversalCost(),
  estimate: ([text]) => {
    const size = sizeOf(text);
    return { ...scale(size, TRAVERSAL), resultSize: { min: size.min + 2, max: Math.min(size.max * 2 + 2, UNBOUNDED) } };
  },
};

const copyCost = traversalCost({ result: 'same' });
const text = { args: [string], result: string, cost: copyCost };
const textPart = { args: [string, string], result: bool, cost: traversalCost() };
const position = { args: [string, string], result: int, cost: elementsCost };
const positionFrom = { args: [string, string, int], result: int, cost: elementsCost };

/** White space by Unicode. JavaScript also counts the byte order mark. */
const SPACE = /[^\S\ufeff]|\u0085/;

/** Takes linear time, unlike a regular expression anchored at the end. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text.charAt(start))) start += 1;
  while (end > start && SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Texts of the standard library and cel-go's `ext.Strings` version 2. */
export const strings: CelFunctions = {
  contains: [
    member(
      'contains_string',
      { args: [string, string], result: bool, cost: containsCost },
      (value = null, part = null) => asText(value).includes(asText(part)),
    ),
  ],
  startsWith: [
    member('starts_with_string', startEnd(), (value = null, part = null) => asText(value).startsWith(asText(part))),
  ],
  endsWith: [
    member('ends_with_string', startEnd(), (value = null, part = null) => asText(value).endsWith(asText(part))),
  ],
  matches: [
    // Only the member function is charged for the text that it reads (cel-go `checker/cost.go`). Rules that call the global function rely
    // on this.
    overload('matches', { args: [string, string], result: bool }, (value = null, pattern = null) =>
      matchesPattern(asText(value), asText(pattern)),
    ),
    member('matches_string', { ...textPart, cost: patternCost }, (value = null, pattern = null) =>
      matchesPattern(asText(value), asText(pattern)),
    ),
  ],
  charAt: [
    member('string_char_at_int', { args: [string, int], result: string }, (value = null, index = null) =>
      charAt(asText(value), asInt(index)),
    ),
  ],
  indexOf: [
    member('string_index_of_string', position, (value = null, part = null) => indexOf(asText(value), asText(part), 0n)),
    member('string_index_of_string_int', positionFrom, (value = null, part = null, from = null) =>
      indexOf(asText(value), asText(part), asInt(from)),
    ),
  ],
  lastIndexOf: [
    member('string_last_index_of_string', position, (value = null, part = null) =>
      lastIndexOf(asText(value), asText(part), undefined),
    ),
    member('string_last_index_of_string_int', positionFrom, (value = null, part = null, from = null) =>
      lastIndexOf(asText(value), asText(part), asInt(from)),
    ),
  ],
  lowerAscii: [member('string_lower_ascii', text, (value = null) => asciiCase(asText(value), 'lower'))],
  upperAscii: [member('string_upper_ascii', text, (value = null) => asciiCase(asText(value), 'upper'))],
  trim: [member('string_trim', text, (value = null) => trimmed(asText(value)))],
  replace: [
    member(
      'string_replace_string_string',
      { args: [string, string, string], result: string, cost: replaceCost },
      (value = null, part = null, by = null) =>
        replace(asText(value), { part: asText(part), by: asText(by), count: -1n }),
    ),
    member(
      'string_replace_string_string_int',
      { args: [string, string, string, int], result: string, cost: replaceCost },
      (value = null, part = null, by = null, count = null) =>
        replace(asText(value), { part: asText(part), by: asText(by), count: asInt(count) }),
    ),
  ],
  split: [
    member(
      'string_split_string',
      { args: [string, string], result: listOf(string), cost: splitCost },
      (value = null, separator = null) => split(asText(value), asText(separator), -1n),
    ),
    member(
      'string_split_string_int',
      { args: [string, string, int], result: listOf(string), cost: splitCost },
      (value = null, separator = null, count = null) => split(asText(value), asText(separator), asInt(count)),
    ),
  ],
  substring: [
    member(
      'string_substring_int',
      { args: [string, int], result: string, cost: copyCost },
      (value = null, start = null) => substring(asText(value), asInt(start), undefined),
    ),
    member(
      'string_substring_int_int',
      { args: [string, int, int], result: string, cost: copyCost },
      (value = null, start = null, end = null) => substring(asText(value), asInt(start), asInt(end)),
    ),
  ],
  join: [
    member('list_join', { args: [listOf(string)], result: string, cost: joinCost }, (list = null) => join(list, '')),
    member(
      'list_join_string',
      { args: [listOf(string), string], result: string, cost: joinCost },
      (list = null, separator = null) => join(list, asText(separator)),
    ),
  ],
  format: [
    member(
      'string_format',
      { args: [string, listOf(dyn)], result: string, cost: traversalCost() },
      (pattern = null, args = null) => formatText(asText(pattern), asList(args), MAX_RESULT),
    ),
  ],
  'strings.quote': [
    overload('strings_quote', { args: [string], result: string, cost: quoteCost }, (value = null) =>
      quote(asText(value)),
    ),
  ],
};

/** Only the searched part is read. */
function startEnd(): typeof textPart {
  const cost: CallCost = {
    when: 'before',
    actual: ([, part = null]) => Math.ceil(costSize(part) * TRAVERSAL),
    estimate: ([, part]) => scale(sizeOf(part), TRAVERSAL),
  };
  return { ...textPart, cost };
}
