import { describe, expect, it } from 'vitest';
import { exponentialBackoff } from './backoff.ts';
import { FakeClock } from './fake-clock.ts';
import { seededRandom } from '../random/random.ts';

describe('exponentialBackoff', () => {
  it('doubles up to the cap and starts over on reset', () => {
    const backoff = exponentialBackoff({ baseMs: 800, capMs: 3000 });
    expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([800, 1600, 3000, 3000]);
    expect(backoff.attempts).toBe(4);
    backoff.reset();
    expect(backoff.next()).toBe(800);
    expect(backoff.attempts).toBe(1);
  });

  it('stretches a step by at most the jitter', () => {
    const backoff = exponentialBackoff({ baseMs: 100, capMs: 100, jitter: 1, random: seededRandom(7) });
    const delays = Array.from({ length: 1000 }, () => backoff.next());
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...delays)).toBeLessThan(200);
    expect(new Set(delays).size).toBeGreaterThan(900);
  });

  it('starts over by itself after a quiet time', () => {
    const clock = new FakeClock();
    const backoff = exponentialBackoff({ baseMs: 100, capMs: 1000, resetAfter: { clock, ms: 120_000 } });
    expect([backoff.next(), backoff.next()]).toEqual([100, 200]);
    clock.advance(120_000);
    expect(backoff.next()).toBe(400);
    clock.advance(120_001);
    expect(backoff.next()).toBe(100);
  });
});
