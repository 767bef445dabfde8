import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalText,
  compareQuantities,
  formatQuantity,
  normalizeQuantity,
  parseQuantity,
  quantityAsNumber,
  QuantityError,
  roundUpToMilli,
} from './quantity.ts';

describe('normalizeQuantity', () => {
  it.each([
    ['0', '0'],
    ['000', '0'],
    ['0Gi', '0'],
    ['-', '0'],
    ['.', '0'],
    ['1', '1'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.1', '1100m'],
    ['1.50', '1500m'],
    ['0.125', '125m'],
    ['-0.5', '-500m'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1000000', '1M'],
    ['1000k', '1M'],
    ['12e6', '12e6'],
    ['1200e4', '12e6'],
    ['1e1', '10'],
    ['1E3', '1E3'],
    ['1024', '1024'],
    ['1Ki', '1Ki'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Gi', '512Mi'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['1.3Ki', '1331200m'],
    ['8Ki', '8Ki'],
    ['-2Gi', '-2Gi'],
    ['8Ei', '9223372036854775807'],
    ['0.1n', '1n'],
    ['1.00001u', '1001n'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['100E', '100E'],
    ['1000E', '1000E'],
    ['10000E', '10000E'],
  ])('canonical form of %s is %s', (text, want) => {
    expect(normalizeQuantity(text)).toBe(want);
  });

  it.each(['1.125', '+5', '05', '5.', '1.250001', '7Mi', '5E3', '1234567890123456789'])(
    'the API server gives %s back as it came',
    (text) => {
      expect(normalizeQuantity(text)).toBe(text);
    },
  );

  const format = /^quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)/;
  it.each<[string, RegExp]>([
    ['', format],
    [' 1', format],
    ['1 Gi', format],
    ['1x', format],
    ['1.2.3', format],
    ['1Gi5x', format],
    ['abc', format],
    ['1kk', /^unable to parse quantity's suffix$/],
    ['1gi', format],
    ['1e', /^unable to parse quantity's suffix$/],
    ['1Ki5', /^unable to parse quantity's suffix$/],
    ['1e+', /^unable to parse quantity's suffix$/],
    ['1e99999', /^unable to parse numeric part of quantity$/],
    ['9'.repeat(1025), /^unable to parse numeric part of quantity$/],
  ])('refuses %j', (text, message) => {
    expect(() => parseQuantity(text)).toThrow(QuantityError);
    expect(() => parseQuantity(text)).toThrow(message);
  });
});

describe('compareQuantities', () => {
  it.each([
    ['1', '1000m', 0],
    ['1Gi', '1024Mi', 0],
    ['1Gi', '1G', 1],
    ['-1', '1n', -1],
    ['1e3', '1k', 0],
    ['0', '-0', 0],
    ['999m', '1', -1],
  ])('%s against %s', (a, b, want) => {
    expect(compareQuantities(parseQuantity(a), parseQuantity(b))).toBe(want);
  });
});

describe('roundUpToMilli', () => {
  it.each([
    ['1n', '1m'],
    ['100u', '1m'],
    ['1500u', '2m'],
    ['-1500u', '-2m'],
    ['1.0001', '1001m'],
    ['0.0005Ki', '512m'],
    ['1.125', '1.125'],
    ['250m', '250m'],
    ['1Gi', '1Gi'],
  ])('API section 23: %s becomes %s', (text, want) => {
    expect(formatQuantity(roundUpToMilli(parseQuantity(text)))).toBe(want);
  });
});

describe('properties', () => {
  const digits = fc.stringMatching(/^[0-9]{1,12}$/);
  const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2', 'e+5');
  const text = fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.option(digits), suffix)
    .map(([sign, whole, fraction, end]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${end}`);

  it('the canonical text has the same value', () => {
    fc.assert(
      fc.property(text, (given) => {
        const quantity = parseQuantity(given);
        expect(compareQuantities(parseQuantity(canonicalText(quantity)), quantity)).toBe(0);
        expect(compareQuantities(parseQuantity(formatQuantity(quantity)), quantity)).toBe(0);
      }),
    );
  });

  it('normalizing twice is normalizing once', () => {
    fc.assert(
      fc.property(text, (given) => {
        const once = normalizeQuantity(given);
        expect(normalizeQuantity(once)).toBe(once);
        const canonical = canonicalText(parseQuantity(given));
        expect(canonicalText(parseQuantity(canonical))).toBe(canonical);
      }),
    );
  });

  it('values are those of the arithmetic of numbers, within its precision', () => {
    const powers: Record<string, number> = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
    fc.assert(
      fc.property(digits, fc.constantFrom(...Object.keys(powers)), (whole, end) => {
        const want = Number(whole) * powers[end]!;
        expect(quantityAsNumber(parseQuantity(whole + end))).toBeCloseTo(want, -Math.log10(want || 1) + 10);
      }),
    );
  });

  it('rounding up never makes a quantity smaller in size', () => {
    fc.assert(
      fc.property(text, (given) => {
        const before = parseQuantity(given);
        const after = roundUpToMilli(before);
        const negative = before.unscaled < 0n;
        expect(compareQuantities(after, before) * (negative ? -1 : 1)).toBeGreaterThanOrEqual(0);
        expect(after.scale).toBeGreaterThanOrEqual(-3);
      }),
    );
  });
});
