import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.ts';

/** Calls of the same duration, one after the other, from a time on. Returns the time after them. */
function answers(limit: ConcurrencyLimit, count: number, { from, ms }: { from: number; ms: number }): number {
  for (let i = 0; i < count; i++)
    limit.ended({ outcome: 'answered', startedAt: from + i * ms, endedAt: from + (i + 1) * ms });
  return from + count * ms;
}

describe('ConcurrencyLimit', () => {
  it('BETTER-19 begins at its ceiling, and good answers do not raise it', () => {
    const limit = new ConcurrencyLimit(20);
    answers(limit, 1000, { from: 0, ms: 5 });
    expect([limit.limit, limit.pausedUntil]).toEqual([20, Number.NEGATIVE_INFINITY]);
  });

  it('BETTER-19 halves when the server refuses, once for all that were under way, and rises by one a round', () => {
    const limit = new ConcurrencyLimit(20);
    for (let i = 0; i < 20; i++) limit.ended({ outcome: 'overloaded', startedAt: 0, endedAt: 10 + i });
    expect(limit.limit).toBe(10);
    limit.ended({ outcome: 'overloaded', startedAt: 30, endedAt: 40 });
    expect(limit.limit).toBe(5);
    let now = 40;
    const risen: number[] = [];
    for (let round = 0; round < 20; round++) {
      now = answers(limit, Math.max(10, limit.limit), { from: now, ms: 5 });
      risen.push(limit.limit);
    }
    expect(risen.slice(0, 5)).toEqual([6, 7, 8, 9, 10]);
    expect(risen.at(-1)).toBe(20);
  });

  it('BETTER-19 waits as long as the server says, but not for ever', () => {
    const limit = new ConcurrencyLimit(4);
    limit.ended({ outcome: 'overloaded', startedAt: 0, endedAt: 1000, retryAfterMs: 2000 });
    limit.ended({ outcome: 'overloaded', startedAt: 0, endedAt: 1001, retryAfterMs: 0 });
    expect(limit.pausedUntil).toBe(3000);
    limit.ended({ outcome: 'overloaded', startedAt: 0, endedAt: 1002, retryAfterMs: 3_600_000 });
    expect(limit.pausedUntil).toBe(31_002);
  });

  it.each([
    { what: 'all alike, however slow', ms: [400, 400, 400], falls: false },
    { what: 'within a quarter of a second', ms: [2, 249, 249], falls: false },
    { what: 'much slower than they could be', ms: [20, 300, 300], falls: true },
    { what: 'twice the best', ms: [200, 400, 400], falls: false },
    { what: 'more than three times the best', ms: [120, 400, 400], falls: true },
  ])('BETTER-19 answers $what: fewer calls at once = $falls', ({ ms, falls }) => {
    const limit = new ConcurrencyLimit(20);
    let now = 0;
    for (const each of ms) now = answers(limit, 40, { from: now, ms: each });
    expect(limit.limit < 20).toBe(falls);
  });

  it('BETTER-19 slowness alone leaves eight: it may be the doing of others', () => {
    const limit = new ConcurrencyLimit(20);
    let now = answers(limit, 40, { from: 0, ms: 5 });
    for (let i = 0; i < 1000; i++) limit.ended({ outcome: 'answered', startedAt: ++now, endedAt: now + 1000 });
    expect(limit.limit).toBe(8);
    limit.ended({ outcome: 'overloaded', startedAt: now + 2000, endedAt: now + 2001 });
    expect(limit.limit).toBe(4);
  });

  it('BETTER-19 forgets how fast the server once was', () => {
    const limit = new ConcurrencyLimit(20);
    let now = answers(limit, 40, { from: 0, ms: 20 });
    now = answers(limit, 400, { from: now, ms: 400 });
    expect(limit.limit).toBeLessThan(20);
    now = answers(limit, 2000, { from: now, ms: 400 });
    expect(limit.limit).toBe(20);
  });

  it('BETTER-19 is always between one and the ceiling', () => {
    const call = fc.record({
      outcome: fc.constantFrom('answered', 'overloaded'),
      ms: fc.integer({ min: 0, max: 10_000 }),
      retryAfterMs: fc.constantFrom(0, 1000, 100_000),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(call, { maxLength: 300 }), (ceiling, calls) => {
        const limit = new ConcurrencyLimit(ceiling);
        let now = 0;
        for (const { outcome, ms, retryAfterMs } of calls) {
          limit.ended({ outcome, startedAt: now, endedAt: now + ms, retryAfterMs });
          now += ms;
          if (limit.limit < 1 || limit.limit > ceiling || limit.pausedUntil > now + 30_000) return false;
        }
        return true;
      }),
    );
  });
});
