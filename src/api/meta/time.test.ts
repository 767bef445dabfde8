import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicroTime, formatTime, parseTime } from './time.ts';

describe('formatTime', () => {
  it('API-060 prints whole seconds, cut', () => {
    expect(formatTime(Date.UTC(2026, 10, 21, 12, 0, 0, 999))).toBe('2026-11-21T12:00:00Z');
    expect(formatTime(-1)).toBe('1969-12-31T23:59:59Z');
  });

  it('prints micro seconds for MicroTime', () => {
    expect(formatMicroTime(Date.UTC(2026, 10, 21, 12, 0, 0, 123))).toBe('2026-11-21T12:00:00.123000Z');
  });
});

describe('parseTime', () => {
  it.each([
    ['2026-11-21T12:00:00Z', Date.UTC(2026, 10, 21, 12)],
    ['2026-11-21T12:00:00.5Z', Date.UTC(2026, 10, 21, 12, 0, 0, 500)],
    ['2026-11-21T12:00:00.123456Z', Date.UTC(2026, 10, 21, 12, 0, 0, 123)],
    ['2026-11-21T12:00:00+02:00', Date.UTC(2026, 10, 21, 10)],
    ['2026-11-21T12:00:00-01:30', Date.UTC(2026, 10, 21, 13, 30)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2026-02-29T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-01-01T24:00:00Z', undefined],
    ['2026-01-01T00:60:00Z', undefined],
    ['2026-01-01 00:00:00Z', undefined],
    ['2026-01-01', undefined],
    ['', undefined],
  ])('%s', (text, want) => {
    expect(parseTime(text)).toBe(want);
  });

  it('reads back what was printed', () => {
    const instants = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(instants, (ms) => {
        expect(parseTime(formatTime(ms))).toBe(Math.floor(ms / 1000) * 1000);
        expect(parseTime(formatMicroTime(ms))).toBe(ms);
      }),
    );
  });
});
