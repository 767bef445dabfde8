import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import { validateFinalizers, validateNoNewFinalizers, validateStandardFinalizers } from './finalizers.ts';

const path = 'metadata.finalizers';

describe('validateFinalizers', () => {
  it('API-071 a malformed name is reported on the list', () => {
    expect(validateFinalizers(['orphan', 'example.com/x'], path)).toEqual([]);
    expect(validateFinalizers(undefined, path)).toEqual([]);
    const [only, ...rest] = validateFinalizers(['example.com/x', 'example.com/x y'], path).map(formatFieldError);
    expect(only).toMatch(/^metadata\.finalizers: Invalid value: "example\.com\/x y": name part must consist of /);
    expect(rest).toEqual([]);
  });

  it('API-071 COL-233 orphan and foregroundDeletion exclude each other', () => {
    expect(validateFinalizers(['foregroundDeletion', 'orphan'], path).map(formatFieldError)).toEqual([
      'metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });
});

describe('validateStandardFinalizers', () => {
  it('API-071 a name without a domain must be known, and carries its index', () => {
    expect(validateStandardFinalizers(['kubernetes', 'orphan', 'foregroundDeletion', 'a.io/x'], path)).toEqual([]);
    expect(validateStandardFinalizers(['a.io/x', 'x'], path).map(formatFieldError)).toEqual([
      'metadata.finalizers[1]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe('validateNoNewFinalizers', () => {
  it.each([
    [undefined, ['a']],
    [[], ['a']],
    [['a'], ['a']],
    [
      ['b', 'a'],
      ['a', 'b'],
    ],
  ])('API-072 %j after %j is fine', (next, previous) => {
    expect(validateNoNewFinalizers(next, previous, path)).toEqual([]);
  });

  it('API-072 names what is new, sorted', () => {
    expect(validateNoNewFinalizers(['z', 'a', 'z', 'b'], ['a'], path).map(formatFieldError)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b", "z"}',
    ]);
  });
});
