import * as fc from 'fast-check';
import type { LabelRequirement } from '../../src/api/selectors/requirement.ts';

/** Labels, terms of selectors that often match them, and metadata around them, with what may confuse a reader that does not parse. */
const key = fc.constantFrom('a', 'b', 'app.kubernetes.io/name', 'ünï', 'say "so"', '__proto__', 'labels');
const value = fc.oneof(
  fc.constantFrom('', '1', '2', 'web', 'ünï', '\\', '"}', '\u2028', '😀'),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
export const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('=' as const, '==' as const, '!=' as const), values: fc.tuple(value) }),
  fc.record({
    key,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.constant(['1']) }),
);
export const labels = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
/** Other members of metadata, in front of the labels and behind them. */
export const members = fc.record(
  {
    name: value,
    generation: fc.nat(),
    annotations: fc.dictionary(value, value, { maxKeys: 2, noNullPrototype: true }),
    finalizers: fc.array(value, { maxLength: 2 }),
    managedFields: fc.array(
      fc.record({ manager: value, fieldsV1: fc.constant({ 'f:labels': { '.': {}, 'k:{"a":"]}"}': [[], [{}]] } }) }),
      { maxLength: 2 },
    ),
    deletionTimestamp: fc.constant(null),
  },
  { requiredKeys: [] },
);
