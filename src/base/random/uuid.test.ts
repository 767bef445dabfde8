import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUuid, UuidWords } from './uuid.ts';

function parse(text: string): string | undefined {
  const words = new UuidWords();
  const bytes = new TextEncoder().encode(`  ${text}`);
  return words.parse(bytes, 2, bytes.length) ? formatUuid(words.w0, words.w1, words.w2, words.w3) : undefined;
}

describe('UuidWords', () => {
  it('a uuid in the usual form comes back as it was', () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        expect(parse(uid)).toBe(uid);
      }),
      { seed: 1 },
    );
  });

  it.each([
    ['upper case', '0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9'],
    ['no dashes', '0a1b2c3d04e5f0607108293a4b5c6d7e8f90'],
    ['a dash more', '0a1b2c3d-4e5f-6071-8293-a4b5c6d-e8f9'],
    ['a letter too far', '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8fg'],
    ['too short', '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f'],
    ['too long', '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f90'],
    ['empty', ''],
  ])('%s is no usual form', (_, uid) => {
    expect(parse(uid)).toBeUndefined();
  });
});
