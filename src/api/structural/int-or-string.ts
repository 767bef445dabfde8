import { equalJson } from '../codec/json/json-value.ts';
import type { JsonSchemaProps } from './json-schema-props.ts';

const INTEGER_OR_STRING: readonly JsonSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** The two patterns that may accompany `x-kubernetes-int-or-string`. Only in them may a junctor contain types. */
export function isSpelledOut(schema: JsonSchemaProps): 'anyOf' | 'allOf' | 'no' {
  if (equalJson(schema.anyOf, INTEGER_OR_STRING)) return 'anyOf';
  return equalJson(schema.allOf?.[0]?.anyOf, INTEGER_OR_STRING) ? 'allOf' : 'no';
}
