import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import { validateAnnotations, validateLabelSelector, validateLabels } from './labels.ts';

const texts = (errors: readonly Parameters<typeof formatFieldError>[0][]): string[] => errors.map(formatFieldError);

describe('validateLabels', () => {
  it('API-066 reports keys and values on the map', () => {
    expect(validateLabels({ 'example.com/a': 'b', c: '' }, 'metadata.labels')).toEqual([]);
    expect(validateLabels(undefined, 'metadata.labels')).toEqual([]);
    const [key, value, ...rest] = texts(validateLabels({ 'a b': 'c d' }, 'metadata.labels'));
    expect(key).toMatch(/^metadata\.labels: Invalid value: "a b": name part must consist of alphanumeric characters, /);
    expect(value).toMatch(/^metadata\.labels: Invalid value: "c d": a valid label must be an empty string or consist /);
    expect(rest).toEqual([]);
  });
});

describe('validateAnnotations', () => {
  const path = 'metadata.annotations';

  it('API-066 keys are qualified names, whatever the case of their prefix; values are free', () => {
    expect(validateAnnotations({ 'Example.COM/a': 'any thing\n' }, path)).toEqual([]);
    expect(texts(validateAnnotations({ '/a': '' }, path))).toEqual([
      'metadata.annotations: Invalid value: "/a": prefix part must be non-empty',
    ]);
  });

  it('API-066 all together are at most 262144 bytes', () => {
    expect(validateAnnotations({ a: 'x'.repeat(262_143) }, path)).toEqual([]);
    expect(texts(validateAnnotations({ a: 'x'.repeat(262_144) }, path))).toEqual([
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]);
    expect(texts(validateAnnotations({ a: 'ä'.repeat(131_071), b: 'x' }, path))).toHaveLength(1);
  });
});

describe('validateLabelSelector', () => {
  const path = 'spec.selector';

  it('API-502 lets good ones pass', () => {
    const selector = {
      matchLabels: { a: 'b' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['x'] },
        { key: 'a', operator: 'NotIn', values: ['x', ''] },
        { key: 'a', operator: 'Exists' },
        { key: 'a', operator: 'DoesNotExist', values: null },
      ],
    };
    expect(validateLabelSelector(selector, path)).toEqual([]);
    expect(validateLabelSelector(undefined, path)).toEqual([]);
  });

  it.each([
    [
      { key: 'a', operator: 'In' },
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      { key: 'a', operator: 'Exists', values: ['x'] },
      "spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
    [
      { key: 'a', operator: 'Gt', values: ['1'] },
      'spec.selector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
    ],
    [
      { key: '/a', operator: 'Exists' },
      'spec.selector.matchExpressions[0].key: Invalid value: "/a": prefix part must be non-empty',
    ],
    [
      { key: 'a', operator: 'In', values: ['x', 'y'.repeat(64)] },
      `spec.selector.matchExpressions[0].values[1]: Invalid value: "${'y'.repeat(64)}": must be no more than 63 bytes`,
    ],
  ])('API-502 %o', (requirement, want) => {
    expect(texts(validateLabelSelector({ matchExpressions: [requirement] }, path))).toEqual([want]);
  });
});
