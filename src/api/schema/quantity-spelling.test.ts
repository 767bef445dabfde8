import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { canonicalQuantity } from './quantity-spelling.ts';

describe('the spelling of quantities', () => {
  it.each([
    ['0', '0'],
    ['0Ki', '0'],
    ['-0', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['-1', '-1'],
    ['1.', '1'],
    ['.5', '500m'],
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['100m', '100m'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1000k', '1M'],
    ['1024Ki', '1Mi'],
    ['1000Ki', '1000Ki'],
    ['1.5Gi', '1536Mi'],
    ['0.5Gi', '512Mi'],
    ['0.5Ki', '512'],
    ['1023', '1023'],
    ['0.0001Ki', '102400u'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1000e0', '1e3'],
    ['12e2', '1200'],
    ['1e-3', '1e-3'],
    ['1e0', '1'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['1000u', '1m'],
    ['1E', '1E'],
    ['1Ei', '1Ei'],
    ['8Ei', '9223372036854775807'],
    ['1e99', '9223372036854775807'],
    ['-1e99', '-9223372036854775807'],
    ['1e9999', '9223372036854775807'],
    ['1e-9999', '1e-9'],
    ['1.10', '1100m'],
  ])('%s is printed as %s', (text, expected) => {
    expect(canonicalQuantity(text)).toBe(expected);
  });

  it.each(['', '.', '-', 'm', '1 Gi', '1gi', '1K', '1Gib', '1e', '1.2.3', '0x10', '1mi', 'Infinity', 'NaN', '1e1.5'])(
    '%j is no quantity',
    (text) => {
      expect(canonicalQuantity(text)).toBeUndefined();
    },
  );

  it('printing what was printed changes nothing', () => {
    const suffix = fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'e-6',
    );
    fc.assert(
      fc.property(fc.integer(), fc.nat(999_999), suffix, (whole, fraction, unit) => {
        const once = canonicalQuantity(`${whole}.${fraction}${unit}`);
        expect(once).toBeDefined();
        expect(canonicalQuantity(once ?? '')).toBe(once);
      }),
    );
  });
});
