import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DefaultPropagation } from '../kinds/resource-info.ts';
import type { PropagationInput } from './propagation.ts';
import { isGarbageCollectionFinalizer, nextFinalizers, shouldForeground, shouldOrphan } from './propagation.ts';

type Winner = 'orphan' | 'foregroundDeletion' | 'none';

const POLICIES = [undefined, 'Background', 'Foreground', 'Orphan'] as const;
const ORPHAN_OPTIONS = [undefined, true, false] as const;
const HELD = [
  [],
  ['orphan'],
  ['foregroundDeletion'],
  ['orphan', 'foregroundDeletion'],
  ['foregroundDeletion', 'orphan'],
];
const DEFAULTS: readonly DefaultPropagation[] = ['Background', 'Orphan', 'Unsupported'];
const OTHERS = [
  { before: [], after: [] },
  { before: ['a.io/x'], after: [] },
  { before: [], after: ['a.io/x'] },
  { before: ['a.io/x'], after: ['a.io/y'] },
];

/** The decision table, read row by row; independent of the two functions under test. */
function winnerByTable(
  policy: (typeof POLICIES)[number],
  orphanDependents: boolean | undefined,
  held: readonly string[],
  byDefault: DefaultPropagation,
): Winner {
  if (byDefault === 'Unsupported') return 'none';
  // Validation refuses both options together (API-241); the functions still must agree on the older one.
  if (orphanDependents !== undefined) return orphanDependents ? 'orphan' : 'none';
  if (policy !== undefined) {
    return ({ Background: 'none', Foreground: 'foregroundDeletion', Orphan: 'orphan' } as const)[policy];
  }
  if (held.length > 0) return held[0] as Winner;
  return byDefault === 'Orphan' ? 'orphan' : 'none';
}

const rows = POLICIES.flatMap((policy) =>
  ORPHAN_OPTIONS.flatMap((orphanDependents) =>
    HELD.flatMap((held) =>
      DEFAULTS.flatMap((byDefault) =>
        OTHERS.map(({ before, after }) => {
          const finalizers = [...before, ...held, ...after];
          const foreign = [...before, ...after];
          const input: PropagationInput = {
            finalizers,
            options: {
              ...(policy === undefined ? {} : { propagationPolicy: policy }),
              ...(orphanDependents === undefined ? {} : { orphanDependents }),
            },
            defaultPropagation: byDefault,
          };
          const winner = winnerByTable(policy, orphanDependents, held, byDefault);
          const same = winner === 'none' ? held.length === 0 : held.length === 1 && held[0] === winner;
          const want = same ? finalizers : winner === 'none' ? foreign : [...foreign, winner];
          const rule = `policy ${policy} orphanDependents ${orphanDependents} default ${byDefault} on [${finalizers}]`;
          return { rule, input, winner, want };
        }),
      ),
    ),
  ),
);

describe('the whole decision table', () => {
  it('has every combination', () => {
    expect(rows).toHaveLength(4 * 3 * 5 * 3 * 4);
  });

  it.each(rows)('API-245, API-246 $rule: $winner', ({ input, winner }) => {
    expect(shouldOrphan(input)).toBe(winner === 'orphan');
    expect(shouldForeground(input)).toBe(winner === 'foregroundDeletion');
  });

  it.each(rows)('API-244 $rule: [$want]', ({ input, want }) => {
    expect(nextFinalizers(input)).toEqual(want);
  });
});

describe('rows of the specification, in its own words', () => {
  const none = {};
  it.each([
    ['none, default Delete', none, [], 'Background', []],
    ['none, default Orphan', none, [], 'Orphan', ['orphan']],
    ['Background, default Delete', { propagationPolicy: 'Background' }, [], 'Background', []],
    ['Background, default Orphan', { propagationPolicy: 'Background' }, [], 'Orphan', []],
    ['Foreground', { propagationPolicy: 'Foreground' }, [], 'Orphan', ['foregroundDeletion']],
    ['Orphan', { propagationPolicy: 'Orphan' }, [], 'Background', ['orphan']],
    ['orphanDependents true', { orphanDependents: true }, [], 'Background', ['orphan']],
    ['orphanDependents false', { orphanDependents: false }, [], 'Orphan', []],
    ['none on orphan', none, ['orphan'], 'Background', ['orphan']],
    ['none on foregroundDeletion', none, ['foregroundDeletion'], 'Orphan', ['foregroundDeletion']],
    ['Background on foregroundDeletion', { propagationPolicy: 'Background' }, ['foregroundDeletion'], 'Orphan', []],
    ['COL-231 events never get one', { propagationPolicy: 'Orphan' }, [], 'Unsupported', []],
  ] as const)('COL-230 %s', (_, options, finalizers, defaultPropagation, want) => {
    expect(nextFinalizers({ finalizers, options, defaultPropagation })).toEqual(want);
  });

  it('API-252 keeps the very list when the set stays, whatever its order', () => {
    const finalizers = ['foregroundDeletion', 'a.io/x'];
    const options = { propagationPolicy: 'Foreground' };
    expect(nextFinalizers({ finalizers, options, defaultPropagation: 'Background' })).toBe(finalizers);
  });
});

describe('properties', () => {
  const finalizer = fc.constantFrom('orphan', 'foregroundDeletion', 'a.io/x', 'b.io/y', 'kubernetes');
  const input = fc.record({
    finalizers: fc.array(finalizer, { maxLength: 5 }),
    options: fc.record(
      {
        propagationPolicy: fc.constantFrom('Background', 'Foreground', 'Orphan'),
        orphanDependents: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    defaultPropagation: fc.constantFrom(...DEFAULTS),
  });
  const foreign = (list: readonly string[]) => list.filter((name) => !isGarbageCollectionFinalizer(name));

  it('API-244 foreign finalizers are neither added nor dropped nor reordered', () => {
    fc.assert(
      fc.property(input, (given) => {
        expect(foreign(nextFinalizers(given))).toEqual(foreign(given.finalizers));
      }),
    );
  });

  it('API-071 leaves at most one of the two, never both', () => {
    fc.assert(
      fc.property(input, (given) => {
        const kinds = new Set(nextFinalizers(given).filter(isGarbageCollectionFinalizer));
        expect(kinds.size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('API-252 the same request again changes nothing more', () => {
    fc.assert(
      fc.property(input, (given) => {
        const once = nextFinalizers(given);
        expect(nextFinalizers({ ...given, finalizers: once })).toBe(once);
      }),
    );
  });
});
