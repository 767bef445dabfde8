import { equalJson } from '../codec/json/json-value.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';

const INTEGER_OR_STRING: readonly JsonSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** The two patterns that may accompany `x-kubernetes-int-or-string`. Only they allow types inside `allOf` and `anyOf`. */
export function isSpelledOut(schema: JsonSchemaProps): 'anyOf' | 'allOf' | 'no' {
  if (equalJson(schema.anyOf, INTEGER_OR_STRING)) return 'anyOf';
  return equalJson(schema.allOf?.[0]?.anyOf, INTEGER_OR_STRING) ? 'allOf' : 'no';
}
