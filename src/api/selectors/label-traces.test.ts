import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LabelSelector } from './label-selector.ts';
import { hasTraces, labelTraces } from './label-traces.ts';
import type { LabelRequirement } from './requirement.ts';

const key = fc.constantFrom('a', 'b', 'app.kubernetes.io/name');
const value = fc.constantFrom('', '1', '2', 'web');
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('=' as const, '!=' as const), values: value.map((one) => [one]) }),
  fc.record({
    key,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.constant(['1']) }),
);

describe('traces of labels in the text of an object', () => {
  it('API-101 are there in each object that matches', () => {
    let ruledOut = 0;
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 3 }), fc.dictionary(key, value), (requirements, labels) => {
        const selector = LabelSelector.of(requirements);
        const text = Buffer.from(JSON.stringify({ metadata: { name: 'x', labels } }));
        const traced = hasTraces(text, labelTraces(selector));
        if (!traced) ruledOut++;
        if (selector.matches(labels)) expect(traced).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(ruledOut).toBeGreaterThan(200);
  });
});
