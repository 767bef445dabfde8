import { child, keyed } from './field-path.ts';
import { type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/**
 * The path of a rule's `fieldPath`, such as `.spec['a.b']`, in the form of errors; undefined if the schema has no such path (apiextensions
 * `schema/cel.ValidFieldPath`).
 */
export function ruleFieldPath(path: string, schema: JsonSchemaProps): string | undefined {
  let current: JsonSchemaProps | undefined = schema;
  let found = '';
  let rest = path;
  while (rest !== '') {
    const match = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    const [step = '', plain, quoted] = match ?? [];
    const name = plain ?? unescapeQuoted(quoted);
    if (name === undefined || current === undefined) return undefined;
    if (current.properties !== undefined) {
      if (!Object.hasOwn(current.properties, name)) return undefined;
      current = current.properties[name];
      found = child(found, name);
    } else if (current.additionalProperties !== undefined) {
      current = valueSchema(current);
      found = keyed(found, name);
    } else return undefined;
    rest = rest.slice(step.length);
  }
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

function unescapeQuoted(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let valid = true;
  const plain = text.replace(/\\(.)/g, (_, character: string) => {
    valid &&= character in ESCAPES;
    return ESCAPES[character] ?? '';
  });
  return valid ? plain : undefined;
}
