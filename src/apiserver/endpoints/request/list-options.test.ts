import { describe, expect, it } from 'vitest';
import { StatusError } from '../../../api/status-error.ts';
import {
  listRevision,
  parseListOptions,
  validateListOptions,
  validateWatchOptions,
  readRevision,
} from './list-options.ts';

function failure(run: () => unknown): { code: number; reason: string; message: string; field?: string } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const field = error.details.causes?.[0]?.field;
    return {
      code: error.code,
      reason: error.reason,
      message: error.message,
      ...(field === undefined ? {} : { field }),
    };
  }
  throw new Error('nothing was refused');
}

const parse = (query: string) => parseListOptions(new URLSearchParams(query));

describe('list options', () => {
  it.each(['limit=abc', 'timeoutSeconds=abc', 'limit=1.5'])('API-016 %s is 400', (query) => {
    expect(failure(() => parse(query))).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  it('API-016 absent numbers are zero, unknown parameters are ignored', () => {
    expect(parse('nonsense=1')).toMatchObject({ limit: 0, timeoutSeconds: 0, sendInitialEvents: undefined });
  });

  const lists: readonly [string, string, string][] = [
    [
      'resourceVersionMatch=Exact',
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden when continue is provided',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      'resourceVersionMatch',
      'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    ['resourceVersionMatch=Nope&resourceVersion=1', 'resourceVersionMatch', 'Unsupported value: "Nope"'],
    ['sendInitialEvents=true', 'sendInitialEvents', 'sendInitialEvents is forbidden for list'],
  ];
  it.each(lists)('API-100 list ?%s is 422', (query, field, text) => {
    const status = failure(() => validateListOptions(parse(query)));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', field });
    expect(status.message).toContain('ListOptions.meta.k8s.io "" is invalid: ');
    expect(status.message).toContain(text);
  });

  it('API-097 a resource version with continue is 400, "0" is let through', () => {
    expect(failure(() => validateListOptions(parse('continue=x&resourceVersion=5')))).toMatchObject({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    });
    expect(() => validateListOptions(parse('continue=x&resourceVersion=0'))).not.toThrow();
  });

  const watches: readonly [string, string][] = [
    ['sendInitialEvents=true', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'],
    [
      'sendInitialEvents=false&resourceVersionMatch=Exact&resourceVersion=1',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      'resourceVersionMatch=NotOlderThan',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
  ];
  it.each(watches)('API-130 watch ?%s is 422', (query, text) => {
    const status = failure(() => validateWatchOptions(parse(query)));
    expect(status).toMatchObject({ code: 422, field: 'resourceVersionMatch' });
    expect(status.message).toContain(text);
  });

  it.each([
    '',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=5',
  ])('API-129 API-132 watch ?%s is allowed', (query) => expect(() => validateWatchOptions(parse(query))).not.toThrow());

  it('API-139 the greatest resource version is one of the future, and a greater one is none', () => {
    for (const read of [listRevision, readRevision]) {
      expect(read('18446744073709551615')).toBeGreaterThan(2 ** 52);
      expect(Number.isSafeInteger(read('18446744073709551615') + 1)).toBe(true);
      expect(failure(() => read('18446744073709551616')).message).toMatch(/value out of range$/);
    }
  });

  it('API-139 a resource version that is no decimal number', () => {
    expect(failure(() => listRevision('abc'))).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^invalid resource version: /),
    });
    expect(failure(() => readRevision('abc'))).toMatchObject({
      code: 500,
      reason: '',
      message: expect.stringMatching(/^resourceVersion: Invalid value: "abc": /),
    });
    expect(listRevision('12')).toBe(12);
    expect(readRevision('')).toBe(0);
  });
});
