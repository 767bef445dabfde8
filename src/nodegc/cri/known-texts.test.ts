import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownTexts } from './known-texts.ts';

const encoder = new TextEncoder();

describe('KnownTexts', () => {
  it('NODE-011 reads the same text as a decoder does, for any bytes, first and again', () => {
    const ids = new KnownTexts();
    const digest = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((hash) => `sha256:${Buffer.from(hash).toString('hex')}`);
    const bytes = fc.oneof(
      digest.map((text) => encoder.encode(text)),
      fc
        .string({ unit: fc.constantFrom('a', '7', '\0', 'ü', '€', '😀'), maxLength: 90 })
        .map((text) => encoder.encode(text)),
      fc.uint8Array({ maxLength: 90 }),
    );
    fc.assert(
      fc.property(bytes, fc.nat(9), (text, before) => {
        const within = new Uint8Array(before + text.length + 3);
        within.set(text, before);
        const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(text);
        for (let time = 0; time < 2; time++) expect(ids.read(within, before, before + text.length)).toBe(expected);
        // A view that starts in the middle of its memory buffer.
        expect(ids.read(within.subarray(before), 0, text.length)).toBe(expected);
      }),
    );
  });

  it('distinguishes texts that differ in one character anywhere', () => {
    const ids = new KnownTexts();
    const text = `sha256:${'0'.repeat(64)}`;
    ids.read(encoder.encode(text), 0, text.length);
    for (let at = 0; at < text.length; at++) {
      const other = `${text.slice(0, at)}x${text.slice(at + 1)}`;
      expect(ids.read(encoder.encode(other), 0, other.length)).toBe(other);
    }
  });

  it('reads texts right while it grows, and after it has forgotten all of them', () => {
    const ids = new KnownTexts();
    const texts = Array.from({ length: 34_000 }, (_, n) => `container-${String(n).padStart(20, '0')}`);
    const right = (): boolean => texts.every((text) => ids.read(encoder.encode(text), 0, text.length) === text);
    expect([right(), right()]).toEqual([true, true]);
  });
});
