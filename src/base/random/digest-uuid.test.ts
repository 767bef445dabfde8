import { describe, expect, it } from 'vitest';
import { digestUuid } from './digest-uuid.ts';
import { UuidWords } from './uuid.ts';

describe('digestUuid', () => {
  it('begins as the SHA-256 of the text (FIPS 180-4, example "abc")', () => {
    expect(digestUuid('abc')).toBe('ba7816bf-8f01-cfea-4141-40de5dae2223');
  });

  it('distinguishes texts by where one ends', () => {
    expect(digestUuid('a', 'bc')).not.toBe(digestUuid('ab', 'c'));
  });

  it('has words', () => {
    const bytes = Buffer.from(digestUuid('a', 'b'));
    expect(new UuidWords().parse(bytes, 0, bytes.length)).toBe(true);
  });
});
