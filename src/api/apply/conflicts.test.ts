import { describe, expect, it } from 'vitest';
import { conflictError } from './conflicts.ts';
import { type FieldSet, fieldSetOf } from './fieldset.ts';
import type { Manager } from './managed-fields.ts';

const manager = (name: string): Manager => ({ name, operation: 'Apply', apiVersion: 'v1', subresource: '' });

function fields(count: number, name: (n: number) => string): FieldSet {
  return fieldSetOf(...Array.from({ length: count }, (_, n) => ['f:data', `f:${name(n)}`]));
}

describe('API-213 what an apply that met other managers answers', () => {
  it('names every field of every manager', () => {
    const error = conflictError([
      { manager: manager('b'), fields: fields(1, () => 'x') },
      { manager: manager('a'), fields: fields(2, (n) => `y${n}`) },
    ]);
    expect(error.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a":\n- .data.y0\n- .data.y1\nconflicts with "b":\n- .data.x',
    );
    expect(error.status.details?.causes).toHaveLength(3);
  });

  it('names no more than ten thousand fields, and how many there are beside them', () => {
    const error = conflictError([
      { manager: manager('a'), fields: fields(9999, (n) => `x${n}`) },
      { manager: manager('b'), fields: fields(5, (n) => `y${n}`) },
    ]);
    expect(error.status.details?.causes).toHaveLength(10_000);
    expect(error.message).toMatch(/^Apply failed with 10004 conflicts: [^]*\n- \.data\.y0\nand 4 more$/);
  });

  it('reports no more than a mebibyte, but always the first', () => {
    const long = (n: number): string => String(n).repeat(900_000);
    const error = conflictError([{ manager: manager('a'), fields: fields(9, long) }]);
    expect(error.status.details?.causes).toHaveLength(1);
    expect(error.message).toMatch(/\nand 8 more$/);
    const one = conflictError([{ manager: manager('a'), fields: fields(1, () => long(1) + long(2)) }]);
    expect(one.message).toMatch(/^Apply failed with 1 conflict: conflict with "a": \.data\.1/);
  });
});
