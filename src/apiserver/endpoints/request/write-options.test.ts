import { describe, expect, it } from 'vitest';
import { parseWriteOptions, type WriteOptionsKind } from './write-options.ts';

const parse = (query: string, kind: WriteOptionsKind = 'CreateOptions') =>
  parseWriteOptions(new URLSearchParams(query), kind);

describe('write options', () => {
  it('API-230 field validation is Warn unless asked otherwise', () => {
    expect(parse('')).toEqual({ dryRun: false, fieldValidation: 'Warn', fieldManager: '' });
    expect(parse('fieldValidation=Strict&fieldManager=kubectl')).toEqual({
      dryRun: false,
      fieldValidation: 'Strict',
      fieldManager: 'kubectl',
    });
  });

  it('API-236 dryRun=All', () => {
    expect(parse('dryRun=All').dryRun).toBe(true);
  });

  it.each([
    ['dryRun=Some', 'CreateOptions', /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: .*supported values: "All"$/],
    [
      'fieldValidation=Maybe',
      'UpdateOptions',
      /^UpdateOptions\.meta\.k8s\.io "" is invalid: fieldValidation: Unsupported value: "Maybe"/,
    ],
    [
      'force=true',
      'PatchOptions',
      /^PatchOptions\.meta\.k8s\.io "" is invalid: force: Forbidden: may not be specified for non-apply patch$/,
    ],
    [`fieldManager=${'x'.repeat(129)}`, 'PatchOptions', /fieldManager: Too long: may not be more than 128 bytes$/],
    [
      'fieldManager=a%00b',
      'CreateOptions',
      /fieldManager: Invalid value: "a\\x00b": invalid character U\+0000 \(at position 1\)$/,
    ],
  ] as const)('API-230 API-236 API-198 ?%s is 422', (query, kind, message) => {
    expect(() => parse(query, kind)).toThrow(
      expect.objectContaining({ code: 422, message: expect.stringMatching(message) }),
    );
  });
});
