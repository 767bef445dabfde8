import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  itemExponentialFailureRateLimiter,
  maxOfRateLimiter,
} from './rate-limiters.ts';

describe('itemExponentialFailureRateLimiter', () => {
  it('COL-082 doubles from 5 ms for each item by itself, up to the cap, for any number of failures', () => {
    const limiter = itemExponentialFailureRateLimiter<string>({ baseMs: 5, capMs: 1_000_000 });
    const delays = Array.from({ length: 1200 }, () => limiter.when('a'));
    expect(delays.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(delays[17]).toBe(655_360);
    expect(delays[18]).toBe(1_000_000);
    expect(delays.at(-1)).toBe(1_000_000);
    expect(limiter.when('b')).toBe(5);
    expect([limiter.numRequeues('a'), limiter.numRequeues('b'), limiter.numRequeues('c')]).toEqual([1200, 1, 0]);
    limiter.forget('a');
    expect([limiter.numRequeues('a'), limiter.when('a')]).toEqual([0, 5]);
  });

  it('remembers a bounded number of items', () => {
    const limiter = itemExponentialFailureRateLimiter<number>({ baseMs: 1, capMs: 100, bound: 2 });
    for (const item of [1, 2, 2, 3, 3]) limiter.when(item);
    expect([1, 2, 3].map((item) => limiter.numRequeues(item))).toEqual([0, 2, 2]);
  });
});

describe('bucketRateLimiter', () => {
  it('COL-082 lets the burst go, queues the rest behind each other, and fills up again to the burst only', () => {
    const clock = new FakeClock();
    const limiter = bucketRateLimiter<string>({ ratePerSecond: 10, burst: 3, clock });
    expect(Array.from({ length: 5 }, () => limiter.when('x'))).toEqual([0, 0, 0, 100, 200]);
    clock.advance(300);
    expect([limiter.when('y'), limiter.when('y')]).toEqual([0, 100]);
    clock.advance(3_600_000);
    expect(Array.from({ length: 4 }, () => limiter.when('x'))).toEqual([0, 0, 0, 100]);
    limiter.forget('x');
    expect(limiter.numRequeues('x')).toBe(0);
  });
});

describe('bucketRateLimiter, called for an item that does not wait', () => {
  it('gives its tokens to those that fail next, and has never more than the burst', () => {
    const clock = new FakeClock();
    const limiter = bucketRateLimiter<string>({ ratePerSecond: 10, burst: 3, clock });
    for (let i = 0; i < 8; i++) limiter.when('x');
    limiter.cancelled(4);
    expect([limiter.when('x'), limiter.when('x')]).toEqual([200, 300]);
    limiter.cancelled(1000);
    expect(Array.from({ length: 4 }, () => limiter.when('x'))).toEqual([0, 0, 0, 100]);
  });
});

describe('defaultControllerRateLimiter', () => {
  it('COL-082 takes the larger of both delays', () => {
    const limiter = defaultControllerRateLimiter<string>({ clock: new FakeClock() });
    for (let i = 0; i < 100; i++) expect(limiter.when(`item-${i}`)).toBe(5);
    expect(limiter.when('one more')).toBe(100);
    for (let i = 0; i < 9; i++) limiter.when('one more');
    expect(limiter.when('one more')).toBe(Math.max(5 * 2 ** 10, 1100));
  });

  it('BETTER-8 obeys another cap', () => {
    const limiter = defaultControllerRateLimiter<string>({ clock: new FakeClock(), capMs: 60_000, burst: 1000 });
    for (let i = 0; i < 30; i++) limiter.when('a');
    expect(limiter.when('a')).toBe(60_000);
  });

  it('COL-082 caps the back-off of each item, not the place behind the others', () => {
    const limiter = defaultControllerRateLimiter<string>({ clock: new FakeClock(), capMs: 60_000 });
    for (let i = 0; i < 5000; i++) limiter.when(`item-${i}`);
    expect(limiter.when('one more')).toBe(490_100);
  });
});

describe('maxOfRateLimiter', () => {
  it('asks and forgets in all of them', () => {
    const short = itemExponentialFailureRateLimiter<string>({ baseMs: 1, capMs: 2 });
    const long = itemExponentialFailureRateLimiter<string>({ baseMs: 3, capMs: 3 });
    const limiter = maxOfRateLimiter(short, long);
    expect([limiter.when('a'), limiter.numRequeues('a')]).toEqual([3, 1]);
    limiter.forget('a');
    expect([short.numRequeues('a'), long.numRequeues('a')]).toEqual([0, 0]);
  });

  it('calls each of them for an item that does not wait', () => {
    const clock = new FakeClock();
    const limiter = maxOfRateLimiter(
      bucketRateLimiter<string>({ ratePerSecond: 10, burst: 1, clock }),
      bucketRateLimiter<string>({ ratePerSecond: 1, burst: 1, clock }),
    );
    expect([limiter.when('a'), limiter.when('a')]).toEqual([0, 1000]);
    limiter.cancelled(2);
    expect([limiter.when('a'), limiter.when('a')]).toEqual([0, 1000]);
  });
});
