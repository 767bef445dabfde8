import { describe, expect, it } from 'vitest';
import type { DiscoveryReason } from '../types/reasons.ts';
import { LookPlan } from './look-plan.ts';

interface Change {
  readonly at: number;
  readonly reason?: DiscoveryReason;
}

/** The start times of the refreshes that these changes cause. Each refresh takes `tookMs`, and all succeed. */
function looks(changes: readonly Change[], { tookMs = 0 }: { readonly tookMs?: number } = {}): number[] {
  const plan = new LookPlan();
  const began: number[] = [];
  const waiting = changes.slice();
  let next = Number.POSITIVE_INFINITY;
  for (;;) {
    const change = waiting[0];
    if (change !== undefined && change.at <= next) {
      waiting.shift();
      next = Math.min(next, Math.max(plan.sooner(change.reason ?? 'definitionChanged', change.at), change.at));
      continue;
    }
    if (next === Number.POSITIVE_INFINITY) return began;
    const at = next;
    began.push(at);
    plan.began(at);
    next = Number.POSITIVE_INFINITY;
    while (waiting[0] !== undefined && waiting[0].at < at + tookMs) {
      const { reason = 'definitionChanged', at: asked } = waiting.shift()!;
      next = Math.min(next, Math.max(plan.sooner(reason, asked), at + tookMs));
    }
    next = Math.min(next, Math.max(plan.succeeded(at + tookMs), at + tookMs));
  }
}

const every = (ms: number, times: number): Change[] => Array.from({ length: times }, (_, i) => ({ at: i * ms }));
const gaps = (times: readonly number[]) => times.slice(1).map((time, i) => time - times[i]!);

describe('LookPlan', () => {
  it('BETTER-3 discovery is read 50 ms after a changed definition, and once more half a second after the change', () => {
    expect(looks([{ at: 1000 }])).toEqual([1050, 1500]);
  });

  it('BETTER-3 changes that come together share their looks', () => {
    expect(looks(every(0, 100))).toEqual([50, 500]);
    expect(looks([{ at: 0 }, { at: 30 }, { at: 200 }])).toEqual([50, 250, 700]);
  });

  it.each([1, 7, 40, 90])('BETTER-3 a hundred definitions, %d ms apart, cost ten looks and two more a second', (ms) => {
    const began = looks(every(ms, 100));
    expect(began.length).toBeLessThanOrEqual(11 + (2 * 100 * ms) / 1000);
    expect(Math.min(...gaps(began))).toBeGreaterThanOrEqual(100);
    expect(began.at(-1)).toBeGreaterThanOrEqual(99 * ms + 500);
  });

  it('BETTER-3 definitions that change for an hour cost two looks a second, and none waits longer than that', () => {
    const began = looks(every(20, 180_000));
    expect(began.length).toBeLessThanOrEqual(10 + 2 * 3600 + 1);
    expect(Math.max(...gaps(began))).toBeLessThanOrEqual(500);
  });

  it('BETTER-3 what was saved up is ten looks, however long nothing changed', () => {
    const began = looks([{ at: 0 }, ...every(10, 1000).map(({ at }) => ({ at: at + 3_600_000 }))]);
    expect(began.filter((at) => at > 3_599_999 && at < 3_602_000).length).toBeLessThanOrEqual(14);
  });

  it.each([
    { tookMs: 10, apart: 100 },
    { tookMs: 50, apart: 200 },
    { tookMs: 240, apart: 960 },
    { tookMs: 600, apart: 1000 },
    { tookMs: 3000, apart: 3000 },
  ])(
    'BETTER-3 looks of $tookMs ms begin at least $apart ms apart once it is known how long they take',
    ({ tookMs, apart }) => {
      const [, ...known] = looks(every(20, 500), { tookMs });
      expect(known.length).toBeGreaterThan(3);
      expect(Math.min(...gaps(known))).toBeGreaterThanOrEqual(apart);
    },
  );

  it('COL-029 unknown kinds and paths that are not there have their own pauses, and one of them causes one read of discovery', () => {
    const unknown = every(10, 3000).map(({ at }) => ({ at, reason: 'unknownKind' as const }));
    expect(Math.min(...gaps(looks(unknown)))).toBeGreaterThanOrEqual(5000);
    expect(looks(unknown.slice(0, 1))).toEqual([100]);
    const missing = every(10, 3000).map(({ at }) => ({ at, reason: 'pathNotFound' as const }));
    expect(Math.min(...gaps(looks(missing)))).toBeGreaterThanOrEqual(10_000);
    expect(looks(missing.slice(0, 1))).toEqual([1000]);
  });

  it('BETTER-3 expects something until a read of discovery has succeeded that began half a second after the last change', () => {
    const plan = new LookPlan();
    expect(plan.expectsChange).toBe(false);
    plan.sooner('unknownKind', 0);
    expect(plan.expectsChange).toBe(false);
    plan.sooner('definitionChanged', 0);
    plan.began(50);
    expect([plan.succeeded(60), plan.expectsChange]).toEqual([500, true]);
    plan.sooner('definitionChanged', 300);
    plan.began(500);
    expect([plan.succeeded(510), plan.expectsChange]).toEqual([800, true]);
    // This one fails.
    plan.began(800);
    expect(plan.expectsChange).toBe(true);
    plan.began(1400);
    expect(plan.expectsChange).toBe(true);
    expect([plan.succeeded(1410), plan.expectsChange]).toEqual([Number.POSITIVE_INFINITY, false]);
  });
});
