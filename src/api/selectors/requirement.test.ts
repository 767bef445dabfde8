import { describe, expect, it } from 'vitest';
import type { LabelRequirement } from './requirement.ts';
import { formatRequirement, requirementMatches, requirementProblem } from './requirement.ts';

const absent = {};
const x = { a: 'x' };
const y = { a: 'y' };
const five = { a: '5' };

describe('requirementMatches', () => {
  const rows: readonly [LabelRequirement, readonly boolean[]][] = [
    [{ key: 'a', operator: '=', values: ['x'] }, [false, true, false, false]],
    [{ key: 'a', operator: '==', values: ['x'] }, [false, true, false, false]],
    [{ key: 'a', operator: '!=', values: ['x'] }, [true, false, true, true]],
    [{ key: 'a', operator: 'in', values: ['x', 'y'] }, [false, true, true, false]],
    [{ key: 'a', operator: 'notin', values: ['x', 'y'] }, [true, false, false, true]],
    [{ key: 'a', operator: 'exists', values: [] }, [false, true, true, true]],
    [{ key: 'a', operator: '!', values: [] }, [true, false, false, false]],
    [{ key: 'a', operator: 'gt', values: ['4'] }, [false, false, false, true]],
    [{ key: 'a', operator: 'gt', values: ['5'] }, [false, false, false, false]],
    [{ key: 'a', operator: 'lt', values: ['6'] }, [false, false, false, true]],
    [{ key: 'a', operator: 'lt', values: ['5'] }, [false, false, false, false]],
  ];

  it.each(rows)('API-101 %o on absent, x, y, 5', (requirement, want) => {
    expect([absent, x, y, five].map((labels) => requirementMatches(requirement, labels))).toEqual(want);
  });

  it('API-101 compares numbers, not texts, up to 64 bits', () => {
    const above = (limit: string, value: string): boolean =>
      requirementMatches({ key: 'a', operator: 'gt', values: [limit] }, { a: value });
    expect(above('9', '10')).toBe(true);
    expect(above('9223372036854775806', '9223372036854775807')).toBe(true);
    expect(above('1', '9223372036854775808')).toBe(false);
    expect(above('-2', '+1')).toBe(true);
  });

  it('API-101 does not take what every object inherits for labels', () => {
    expect(requirementMatches({ key: 'constructor', operator: 'exists', values: [] }, absent)).toBe(false);
  });
});

describe('requirementProblem', () => {
  it.each<[LabelRequirement, string]>([
    [
      { key: 'a', operator: 'in', values: [] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { key: 'a', operator: '=', values: ['x', 'y'] },
      'values: Invalid value: ["x","y"]: exact-match compatibility requires one single value',
    ],
    [
      { key: 'a', operator: 'exists', values: ['x'] },
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
    [
      { key: 'a', operator: 'gt', values: ['x'] },
      `values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    [{ key: '/a', operator: '!', values: [] }, 'key: Invalid value: "/a": prefix part must be non-empty'],
    [
      { key: 'a', operator: 'in', values: ['x', 'y'.repeat(64)] },
      `values[1][a]: Invalid value: "${'y'.repeat(64)}": must be no more than 63 bytes`,
    ],
    [
      { key: '/a', operator: '=', values: [] },
      '[key: Invalid value: "/a": prefix part must be non-empty, values: Invalid value: []: exact-match compatibility requires one single value]',
    ],
  ])('API-101 %o', (requirement, want) => {
    expect(requirementProblem(requirement)).toBe(want);
  });

  it('API-101 finds nothing in good ones', () => {
    expect(requirementProblem({ key: 'a.io/b', operator: 'in', values: ['', 'x'] })).toBeUndefined();
  });
});

describe('formatRequirement', () => {
  it.each<[LabelRequirement, string]>([
    [{ key: 'a', operator: '=', values: ['x'] }, 'a=x'],
    [{ key: 'a', operator: '==', values: [''] }, 'a=='],
    [{ key: 'a', operator: '!=', values: ['x'] }, 'a!=x'],
    [{ key: 'a', operator: 'in', values: ['y', 'x'] }, 'a in (x,y)'],
    [{ key: 'a', operator: 'notin', values: ['x'] }, 'a notin (x)'],
    [{ key: 'a', operator: 'exists', values: [] }, 'a'],
    [{ key: 'a', operator: '!', values: [] }, '!a'],
    [{ key: 'a', operator: 'gt', values: ['1'] }, 'a>1'],
    [{ key: 'a', operator: 'lt', values: ['1'] }, 'a<1'],
  ])('API-101 %o', (requirement, want) => {
    expect(formatRequirement(requirement)).toBe(want);
  });
});
