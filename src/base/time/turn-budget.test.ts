import { describe, expect, it } from 'vitest';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import { TurnBudget } from './turn-budget.ts';

/** A clock whose turns end when the test says so. */
function turns(): { readonly clock: Clock; next(): Promise<void> } {
  let deferred: (() => void)[] = [];
  return {
    clock: { ...systemClock, defer: (fn) => void deferred.push(fn) },
    async next() {
      const all = deferred;
      deferred = [];
      for (const fn of all) fn();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

describe('a budget of a turn', () => {
  it('lets no more work begin in a turn than it has units, and goes on in order in the next ones', async () => {
    const { clock, next } = turns();
    const budget = new TurnBudget(clock, 3);
    const begun: number[] = [];
    const work = async (id: number): Promise<void> => {
      await budget.spend();
      begun.push(id);
    };
    for (let id = 0; id < 8; id++) void work(id);
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    await next();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    await next();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('takes work that is larger than a turn, alone', async () => {
    const { clock, next } = turns();
    const budget = new TurnBudget(clock, 3);
    expect(budget.spend(10)).toBeUndefined();
    let resumed = false;
    void budget.spend()?.then(() => (resumed = true));
    await Promise.resolve();
    expect(resumed).toBe(false);
    await next();
    expect(resumed).toBe(true);
  });

  it('is whole again after a turn in which nobody waited', async () => {
    const { clock, next } = turns();
    const budget = new TurnBudget(clock, 1);
    expect(budget.spend()).toBeUndefined();
    await next();
    expect(budget.spend()).toBeUndefined();
  });
});
