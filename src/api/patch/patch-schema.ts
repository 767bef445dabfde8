import { fieldOf } from '../kinds/type-table.ts';

/**
 * How a strategic merge treats the value of a field. A `struct` has the fields of its type in the type table. In a `map` all values have
 * the same type. An `opaque` value has no known type (embedded objects, free JSON): its maps are merged, its lists are replaced.
 */
export type PatchSchema =
  | { readonly shape: 'struct'; readonly typeName: string }
  | { readonly shape: 'map'; readonly typeName: string }
  | { readonly shape: 'opaque' };

/** The effect of a patch on a field (API-195). */
export interface PatchFieldRule {
  /** The schema of the field, or of its elements if it is a list. */
  readonly schema: PatchSchema;
  readonly strategy: 'merge' | 'replace' | 'default';
  /** Identifies the elements of a merged list of objects; absent for lists of scalars. */
  readonly mergeKey?: string;
}

const OPAQUE: PatchSchema = { shape: 'opaque' };
const UNKNOWN: PatchFieldRule = { schema: OPAQUE, strategy: 'default' };

export function structSchema(typeName: string): PatchSchema {
  return { shape: 'struct', typeName };
}

/** The rule of one key of a value. Unknown keys merge as free JSON, and decoding reports them afterwards (API-199). */
export function ruleOf(schema: PatchSchema, key: string): PatchFieldRule {
  if (schema.shape === 'opaque') return UNKNOWN;
  if (schema.shape === 'map') return { schema: structSchema(schema.typeName), strategy: 'default' };
  const field = fieldOf(schema.typeName, key);
  if (field === undefined) return UNKNOWN;
  // The directive `retainKeys` in a patch takes effect whatever the field's strategy.
  const strategies = (field.patchStrategy ?? '').split(',');
  return {
    schema: { shape: field.map ? 'map' : 'struct', typeName: field.type },
    strategy: strategies.includes('merge') ? 'merge' : strategies.includes('replace') ? 'replace' : 'default',
    ...(field.patchMergeKey === undefined ? {} : { mergeKey: field.patchMergeKey }),
  };
}
