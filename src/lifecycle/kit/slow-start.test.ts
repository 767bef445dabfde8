import { describe, expect, it } from 'vitest';
import { slowStart } from './slow-start.ts';

describe('slowStart', () => {
  it('LIFE-010 doubles its batches while all of them succeed', async () => {
    let running = 0;
    const batches: number[] = [];
    const outcome = await slowStart(10, async () => {
      running++;
      await Promise.resolve();
      if (running > 0) batches.push(running);
      running = 0;
    });
    expect(outcome).toEqual({ successes: 10, failure: undefined });
    expect(batches).toEqual([1, 2, 4, 3]);
  });

  it('LIFE-010 ends with the batch in which something fails, and says the first failure', async () => {
    const calls: number[] = [];
    const outcome = await slowStart(100, (index) => {
      calls.push(index);
      return index === 1 ? Promise.reject(new Error('quota')) : Promise.resolve();
    });
    expect(calls).toEqual([0, 1, 2]);
    expect(outcome).toEqual({ successes: 2, failure: new Error('quota') });
  });

  it('LIFE-010 a template that is always refused costs one call', async () => {
    let calls = 0;
    await slowStart(500, () => Promise.reject(new Error(`refused ${++calls}`)));
    expect(calls).toBe(1);
  });
});
