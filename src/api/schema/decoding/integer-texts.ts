import { parseJsonNumbers } from '../../../base/json/exact-json.ts';
import { isJsonObject } from '../../codec/json/json-value.ts';
import { fieldOf, JSON_SCHEMA_PROPS } from '../../kinds/type-table.ts';
import { DecodePosition, type DecodeProblem } from './decode-problem.ts';

/** Matches each text in which a number has a point or an exponent, and some in which only a string holds such a number. */
const MAYBE_NO_INTEGER = /[\s:,[]-?\d+[.eE]/;

/**
 * The first integer field of a type whose number has a point or an exponent in the JSON text, such as `1e2`. Go refuses it (API-233), while
 * `JSON.parse` returns the same number as for `100`. Undefined if there is none.
 */
export function problemOfIntegerText(text: string, typeName: string): DecodeProblem | undefined {
  if (!MAYBE_NO_INTEGER.test(text)) return undefined;
  const tree = parseJsonNumbers(text, (digits) => (/[.eE]/.test(digits) ? new NoInteger(digits) : 0));
  const position = new DecodePosition(typeName.slice(typeName.lastIndexOf('.') + 1));
  return isJsonObject(tree) ? inStruct(tree, typeName, position) : undefined;
}

class NoInteger {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

function inStruct(
  object: Record<string, unknown>,
  typeName: string,
  position: DecodePosition,
): DecodeProblem | undefined {
  for (const key of Object.keys(object)) {
    const field = fieldOf(typeName, key);
    if (field === undefined) continue;
    const value = object[key];
    position.enter(key);
    const problem =
      field.map && isJsonObject(value) && !(value instanceof NoInteger)
        ? inEach(Object.values(value), field.type, position)
        : inValue(value, field.type, position);
    position.leave();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function inEach(values: readonly unknown[], type: string, position: DecodePosition): DecodeProblem | undefined {
  for (const value of values) {
    const problem = inValue(value, type, position);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function inValue(value: unknown, type: string, position: DecodePosition): DecodeProblem | undefined {
  if (value instanceof NoInteger) {
    const integer = type === 'IntOrString' ? 'int32' : type;
    return integer === 'int32' || integer === 'int64'
      ? position.mismatch(`number ${value.digits}`, integer)
      : undefined;
  }
  if (Array.isArray(value)) return inEach(value, type, position);
  if (!isJsonObject(value)) return undefined;
  return inStruct(value, type.startsWith('JSONSchemaPropsOr') ? JSON_SCHEMA_PROPS : type, position);
}
