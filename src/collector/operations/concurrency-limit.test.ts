import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CallOutcome, ConcurrencyLimit } from './concurrency-limit.ts';

const told = (call: Partial<CallOutcome> & Pick<CallOutcome, 'startedAt' | 'endedAt'>): CallOutcome => ({
  outcome: 'answered',
  kind: 'DELETE',
  underWay: 100,
  ...call,
});

/** Calls of the same duration, one after the other, from the time `from` on. Returns the time after them. */
function answers(limit: ConcurrencyLimit, count: number, call: { from: number; ms: number; kind?: string }): number {
  const { from, ms, kind = 'DELETE' } = call;
  for (let i = 0; i < count; i++) limit.ended(told({ kind, startedAt: from + i * ms, endedAt: from + (i + 1) * ms }));
  return from + count * ms;
}

/** Ends the search phase with a slow round, then adds fast rounds of answers until the limit has risen to `to`. */
function raise(limit: ConcurrencyLimit, to: number, call: { from: number; ms: number }): number {
  let now = answers(limit, 1, { from: call.from, ms: call.ms });
  now = answers(limit, 9, { from: now, ms: call.ms * 3 });
  while (limit.limit < to) now = answers(limit, Math.max(10, limit.limit), { from: now, ms: call.ms });
  return now;
}

describe('ConcurrencyLimit', () => {
  it('BETTER-19 begins with a few, and doubles with each round of good answers, to its ceiling', () => {
    const limit = new ConcurrencyLimit({ ceiling: 50, few: 8 });
    const seen = [limit.limit];
    let now = 0;
    for (let round = 0; round < 5; round++) {
      now = answers(limit, Math.max(10, limit.limit), { from: now, ms: 5 });
      seen.push(limit.limit);
    }
    expect([seen, limit.pausedUntil]).toEqual([[8, 16, 32, 50, 50, 50], Number.NEGATIVE_INFINITY]);
    expect(new ConcurrencyLimit({ ceiling: 3 }).limit).toBe(3);
    expect(new ConcurrencyLimit({ ceiling: 1000 }).limit).toBe(8);
    expect(new ConcurrencyLimit({ ceiling: 100, few: 30 }).limit).toBe(30);
  });

  it('BETTER-19 halves when the server refuses, once for all that were under way', () => {
    const limit = new ConcurrencyLimit({ ceiling: 20, few: 8 });
    const now = raise(limit, 20, { from: 0, ms: 5 });
    for (let i = 0; i < 20; i++) limit.ended(told({ outcome: 'overloaded', startedAt: now, endedAt: now + 10 + i }));
    expect(limit.limit).toBe(10);
    limit.ended(told({ outcome: 'overloaded', startedAt: now + 30, endedAt: now + 40 }));
    expect(limit.limit).toBe(5);
    answers(limit, 10, { from: now + 40, ms: 5 });
    expect(limit.limit).toBe(6);
  });

  it('BETTER-19 waits as long as the server says, but not for ever', () => {
    const limit = new ConcurrencyLimit({ ceiling: 4 });
    limit.ended(told({ outcome: 'overloaded', startedAt: 0, endedAt: 1000, retryAfterMs: 2000 }));
    limit.ended(told({ outcome: 'overloaded', startedAt: 0, endedAt: 1001, retryAfterMs: 0 }));
    expect(limit.pausedUntil).toBe(3000);
    limit.ended(told({ outcome: 'overloaded', startedAt: 0, endedAt: 1002, retryAfterMs: 3_600_000 }));
    expect(limit.pausedUntil).toBe(31_002);
  });

  it.each([
    { what: 'as fast as ever', ms: 10, becomes: 'more' },
    { what: 'that took twice the best', ms: 20, becomes: 'more' },
    { what: 'that took longer', ms: 25, becomes: 'the same' },
    { what: 'that took three times the best', ms: 30, becomes: 'the same' },
    { what: 'that took longer still', ms: 31, becomes: 'fewer' },
  ])('BETTER-19 after answers $what: $becomes', ({ ms, becomes }) => {
    const limit = new ConcurrencyLimit({ ceiling: 100, few: 8 });
    const now = raise(limit, 20, { from: 0, ms: 10 });
    answers(limit, 20, { from: now, ms });
    expect(limit.limit).toBe({ more: 21, 'the same': 20, fewer: 18 }[becomes]);
  });

  it('BETTER-19 compares a call with its own kind only', () => {
    const limit = new ConcurrencyLimit({ ceiling: 100, few: 8 });
    const now = answers(limit, 10, { from: 0, ms: 1, kind: 'GET' });
    expect(limit.limit).toBe(16);
    answers(limit, 16, { from: now, ms: 50, kind: 'DELETE' });
    expect(limit.limit).toBe(32);
  });

  it('BETTER-19 does not rise because of calls that had few beside them', () => {
    const limit = new ConcurrencyLimit({ ceiling: 100, few: 8 });
    for (let i = 0; i < 100; i++) limit.ended(told({ underWay: 7, startedAt: i, endedAt: i + 1 }));
    expect(limit.limit).toBe(8);
    // One call that began when all places were taken is enough for the round.
    for (let i = 0; i < 10; i++) limit.ended(told({ underWay: i === 3 ? 8 : 2, startedAt: 100 + i, endedAt: 101 + i }));
    expect(limit.limit).toBe(16);
  });

  it('BETTER-19 goes back to what was good when it has found what is too much', () => {
    const limit = new ConcurrencyLimit({ ceiling: 100, few: 8 });
    let now = answers(limit, 10, { from: 0, ms: 10 });
    now = answers(limit, 16, { from: now, ms: 15 });
    expect(limit.limit).toBe(32);
    now = answers(limit, 32, { from: now, ms: 25 });
    expect(limit.limit).toBe(16);
    now = answers(limit, 16, { from: now, ms: 15 });
    expect(limit.limit).toBe(17);
  });

  it('BETTER-19 slowness alone leaves the few: it may be the doing of others', () => {
    const limit = new ConcurrencyLimit({ ceiling: 20, few: 8 });
    let now = raise(limit, 20, { from: 0, ms: 5 });
    for (let i = 0; i < 1000; i++) limit.ended(told({ startedAt: ++now, endedAt: now + 1000 }));
    expect(limit.limit).toBe(8);
    limit.ended(told({ outcome: 'overloaded', startedAt: now + 2000, endedAt: now + 2001 }));
    expect(limit.limit).toBe(4);
    // Slow answers do not reduce the limit below that of the server's refusal.
    for (let i = 0; i < 100; i++) limit.ended(told({ startedAt: now + 3000 + i, endedAt: now + 4000 + i }));
    expect(limit.limit).toBe(4);
  });

  it('BETTER-19 forgets after a minute how fast the server once was, and then begins with a few again', () => {
    const limit = new ConcurrencyLimit({ ceiling: 100, few: 8 });
    let now = raise(limit, 12, { from: 0, ms: 20 });
    expect(now).toBeLessThan(10_000);
    now = answers(limit, 20, { from: now, ms: 50 });
    expect(limit.limit).toBe(12);
    limit.ended(told({ startedAt: 60_950, endedAt: 61_000 }));
    expect(limit.limit).toBe(8);
    // The speed that was slow before is now the best speed.
    answers(limit, 9, { from: 61_000, ms: 50 });
    expect(limit.limit).toBe(16);
  });

  it('BETTER-19 is always between one and the ceiling', () => {
    const call = fc.record({
      outcome: fc.constantFrom('answered', 'overloaded'),
      kind: fc.constantFrom('GET', 'DELETE'),
      underWay: fc.integer({ min: 1, max: 100 }),
      ms: fc.integer({ min: 0, max: 10_000 }),
      retryAfterMs: fc.constantFrom(0, 1000, 100_000),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(call, { maxLength: 300 }), (ceiling, calls) => {
        const limit = new ConcurrencyLimit({ ceiling });
        let now = 0;
        for (const { ms, ...rest } of calls) {
          limit.ended({ ...rest, startedAt: now, endedAt: now + ms });
          now += ms;
          if (limit.limit < 1 || limit.limit > ceiling || limit.pausedUntil > now + 30_000) return false;
        }
        return true;
      }),
    );
  });
});

/** A server as its clients see it: how long a call takes, by the number of other calls under way. */
interface Server {
  /** The number of calls that the server works on at a time. */
  readonly workers: number;
  /** The time that the server works on one call, ms. */
  readonly serviceMs: number;
  /** The other time of a call: the network, or a disk or quorum shared with others, ms. */
  readonly besidesMs: number;
}

/** Keeps as many calls under way as the limit allows, for `forMs`. Virtual time: arrivals and answers come in their order. */
function load(
  server: Server,
  forMs: number,
): { readonly limit: number; readonly perMs: number; readonly waitMs: number } {
  const limit = new ConcurrencyLimit({ ceiling: 100 });
  const free: number[] = Array.from({ length: server.workers }, () => 0);
  const underWay: Pick<CallOutcome, 'underWay' | 'startedAt' | 'endedAt'>[] = [];
  let now = 0;
  let done = 0;
  let waited = 0;
  while (now < forMs) {
    while (underWay.length < limit.limit) {
      const worker = free.indexOf(Math.min(...free));
      const begins = Math.max(free[worker]!, now + server.besidesMs / 2);
      free[worker] = begins + server.serviceMs;
      if (now > forMs / 2) waited += begins - now - server.besidesMs / 2;
      underWay.push({ underWay: underWay.length + 1, startedAt: now, endedAt: free[worker]! + server.besidesMs / 2 });
    }
    const next = underWay.reduce((first, call) => (call.endedAt < first.endedAt ? call : first));
    underWay.splice(underWay.indexOf(next), 1);
    now = next.endedAt;
    limit.ended({ outcome: 'answered', kind: 'DELETE', ...next });
    if (now > forMs / 2) done++;
  }
  return { limit: limit.limit, perMs: done / (forMs / 2), waitMs: waited / done };
}

describe('ConcurrencyLimit over a server', () => {
  it('BETTER-19 takes all that a server with one worker can do, and makes others wait for a handful of calls', () => {
    const { limit, perMs, waitMs } = load({ workers: 1, serviceMs: 0.15, besidesMs: 0.4 }, 2000);
    expect(limit).toBeLessThanOrEqual(9);
    expect(perMs).toBeGreaterThan(0.99 / 0.15);
    // Other clients wait as long as we do: with twenty calls under way it would be 2.4 ms.
    expect(waitMs).toBeLessThan(8 * 0.15);
  });

  it('BETTER-19 opens up for a server that does much at once', () => {
    const { limit, perMs, waitMs } = load({ workers: 16, serviceMs: 2, besidesMs: 1 }, 2000);
    expect(limit).toBeGreaterThan(20);
    expect(perMs).toBeGreaterThan(0.98 * (16 / 2));
    expect(waitMs).toBeLessThan(2 * 3);
  });

  it('BETTER-19 goes to its ceiling where a call only waits for a disk', () => {
    expect(load({ workers: 1, serviceMs: 0.01, besidesMs: 5 }, 2000).limit).toBe(100);
  });
});
