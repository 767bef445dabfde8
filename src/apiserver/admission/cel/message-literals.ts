import { CelEvaluationError } from '../../../api/cel/cel-error.ts';
import { type CelType, celTypes, mapOf, objectOf } from '../../../api/cel/cel-type.ts';
import { asText } from '../../../api/cel/cel-value.ts';
import { type CelFunctions, overload } from '../../../api/cel/function-declaration.ts';

/**
 * Rewrites literals of mutations, `Object.spec{replicas: 3}` and `JSONPatch{op: "add", …}`, which the grammar does not have. Before parsing
 * they become calls of a function of the type, `Object.spec.__new__({"replicas": dyn(3)})`. Error positions after the first literal are
 * those of the rewritten text.
 */
export interface RewrittenExpression {
  readonly text: string;
  /** The types that have literals. */
  readonly types: ReadonlySet<string>;
}

const CONSTRUCTOR = '__new__';
/** A string of any kind, a comment, a name with dots, one other character. */
const TOKEN =
  /[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')|[bB]?[rR][bB]?(?:"[^"\n]*"|'[^'\n]*')|[bB]?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*|\s+|[\s\S]/g;

/** The innermost open construct: a literal (`fields` between two fields, `value` inside a field's value), or another one. */
type Bracket = 'fields' | 'value' | 'other';

export function rewriteMessages(source: string): RewrittenExpression {
  const types = new Set<string>();
  const open: Bracket[] = [];
  const tokens = source.match(TOKEN) ?? [];
  let text = '';
  for (const [index, token] of tokens.entries()) {
    const top = open.at(-1);
    const next = following(tokens, index);
    const name = token.replace(/\s+/g, '');
    if (next === '{' && /^(?:Object(?:\.\w+)*|JSONPatch)$/.test(name)) {
      types.add(name);
      open.push('fields');
      text += `${token}.${CONSTRUCTOR}(`;
    } else if (token === '{' && top === 'fields') {
      text += token;
    } else if (token === '{' || token === '(' || token === '[') {
      open.push('other');
      text += token;
    } else if (token === '}' || token === ')' || token === ']') {
      text += token === '}' && top !== 'other' && top !== undefined ? `${top === 'value' ? ')' : ''}})` : token;
      open.pop();
    } else if (top === 'fields' && token === ':') {
      // Each value of a literal has its own type; the values of a map have one type.
      open[open.length - 1] = 'value';
      text += ': dyn(';
    } else if (top === 'value' && token === ',') {
      open[open.length - 1] = 'fields';
      text += '),';
    } else {
      text += top === 'fields' && /^[A-Za-z_]\w*$/.test(token) ? JSON.stringify(token) : token;
    }
  }
  return { text, types };
}

/** The next token that is not a space. */
function following(tokens: readonly string[], index: number): string | undefined {
  return tokens.slice(index + 1, index + 3).find((token) => token.trim() !== '');
}

export function messageType(name: string): CelType {
  return objectOf(name, {});
}

const { dyn, string } = celTypes;

/** Functions for literals of these types and for JSON patches, in addition to the functions of all expressions. */
export function messageFunctions(types: Iterable<string>): CelFunctions {
  const constructors = Array.from(types, (name) => {
    const signature = { args: [mapOf(string, dyn)], result: messageType(name) };
    return [`${name}.${CONSTRUCTOR}`, [overload(`new_${name}`, signature, (fields = null) => fields)]] as const;
  });
  const escapeKey = overload('jsonpatch_escape_key', { args: [string], result: string }, (key) => {
    if (key === undefined) throw new CelEvaluationError('no such overload');
    return asText(key).replaceAll('~', '~0').replaceAll('/', '~1');
  });
  return { ...Object.fromEntries(constructors), 'jsonpatch.escapeKey': [escapeKey] };
}
