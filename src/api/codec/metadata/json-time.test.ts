import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonTime, secondsOfJsonTime } from './json-time.ts';

describe('times in JSON text', () => {
  it('API-524 are the seconds a parser reads', () => {
    const seconds = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000 });
    fc.assert(
      fc.property(seconds, (at) => {
        const text = Buffer.from(`"${new Date(at * 1000).toISOString().slice(0, 19)}Z"`);
        expect(isJsonTime(text, 1, text.length - 1)).toBe(true);
        expect(secondsOfJsonTime(text, 1)).toBe(at);
      }),
      { numRuns: 2_000, examples: [[0], [951_782_400], [951_868_800], [4_107_542_400], [253_402_300_799]] },
    );
  });

  it.each([
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-11-21T15:04:0xZ',
    '2026-11-21T15:04:05.1Z',
    '2026-11-21T15:04:05+',
    '',
  ])('are not taken when they are %s', (text) => {
    expect(isJsonTime(Buffer.from(text), 0, text.length)).toBe(false);
  });
});
