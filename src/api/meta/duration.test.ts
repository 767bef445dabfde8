import { describe, expect, it } from 'vitest';
import { humanAge, humanDuration, parseGoDuration } from './duration.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

describe('humanDuration', () => {
  it.each([
    [-3 * S, '<invalid>'],
    [-2 * S, '<invalid>'],
    [-1999, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [9 * M + 59 * S, '9m59s'],
    [10 * M + 59 * S, '10m'],
    [179 * M, '179m'],
    [3 * H, '3h'],
    [7 * H + 59 * M, '7h59m'],
    [8 * H + 59 * M, '8h'],
    [47 * H + 59 * M, '47h'],
    [2 * D, '2d'],
    [7 * D + 23 * H, '7d23h'],
    [8 * D + 23 * H, '8d'],
    [729 * D, '729d'],
    [2 * Y, '2y'],
    [7 * Y + 364 * D, '7y364d'],
    [8 * Y + 364 * D, '8y'],
  ])('API-436 %d ms is %s', (ms, want) => {
    expect(humanDuration(ms)).toBe(want);
  });

  it('API-436 an object without a creation time has an unknown age', () => {
    expect(humanAge(undefined, 5)).toBe('<unknown>');
    expect(humanAge(1000, 6000)).toBe('5s');
  });
});

describe('parseGoDuration', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['5s', 5000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['-2ms', -2],
    ['+1m', 60_000],
    ['1µs', 0.001],
    ['', undefined],
    ['5', undefined],
    ['s', undefined],
    ['1d', undefined],
    ['1 s', undefined],
    ['.s', undefined],
  ])('API-006 %j', (text, want) => {
    expect(parseGoDuration(text)).toBe(want);
  });
});
