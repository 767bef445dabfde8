import { Lru } from '../../../base/collections/lru.ts';
import { patternCost, sizeOf } from '../call-cost.ts';
import type { CallCost } from '../call-cost.ts';
import { CelEvaluationError } from '../cel-error.ts';
import { celTypes, listOf } from '../cel-type.ts';
import { asInt, asText, ValueList } from '../cel-value.ts';
import { type CelFunctions, member } from '../function-declaration.ts';
import { compileGoRegexp, type GoRegexp, GoRegexpError } from '../go-regexp.ts';

const { int, string } = celTypes;

/** Most patterns are constants of rules. Patterns that come from data evict each other. */
const compiled = new Lru<string, GoRegexp>({ capacity: 512 });

function compile(pattern: string, problem: string): GoRegexp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  try {
    const regexp = compileGoRegexp(pattern);
    compiled.set(pattern, regexp);
    return regexp;
  } catch (error) {
    if (error instanceof GoRegexpError) throw new CelEvaluationError(problem + error.message);
    throw error;
  }
}

export function matchesPattern(text: string, pattern: string): boolean {
  return compile(pattern, '').test(text);
}

function find(text: string, pattern: string): string {
  const match = compile(pattern, 'Illegal regex: ').find(text);
  return match === undefined ? '' : text.slice(...match);
}

/** At most `limit` matches without overlap, like Go's `FindAllString`. A negative limit means all. */
function findAll(text: string, pattern: string, limit: bigint): ValueList {
  const regexp = compile(pattern, 'Illegal regex: ');
  const found: string[] = [];
  let at = 0;
  let previousEnd = -1;
  for (const most = limit < 0n ? Infinity : Number(limit); at <= text.length && found.length < most;) {
    const match = regexp.find(text, at);
    if (match === undefined) break;
    const [start, end] = match;
    // An empty match directly after another match does not count.
    if (end > start || start !== previousEnd) found.push(text.slice(start, end));
    at = end > at ? end : at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    previousEnd = end;
  }
  return new ValueList(found);
}

const findCost: CallCost = {
  ...patternCost,
  estimate: (operands) => ({
    ...patternCost.estimate(operands),
    resultSize: { min: 0, max: sizeOf(operands[0]).max },
  }),
};

/** `kubernetes.regex`. */
export const regex: CelFunctions = {
  find: [
    member(
      'string_find_string',
      { args: [string, string], result: string, cost: findCost },
      (text = null, pattern = null) => find(asText(text), asText(pattern)),
    ),
  ],
  findAll: [
    member(
      'string_find_all_string',
      { args: [string, string], result: listOf(string), cost: findCost },
      (text = null, pattern = null) => findAll(asText(text), asText(pattern), -1n),
    ),
    member(
      'string_find_all_string_int',
      { args: [string, string, int], result: listOf(string), cost: findCost },
      (text = null, pattern = null, limit = null) => findAll(asText(text), asText(pattern), asInt(limit)),
    ),
  ],
};
