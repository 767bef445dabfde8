import { describe, expect, it } from 'vitest';
import { finished, inTurns, type Steps } from './steps.ts';

describe('long work in steps', () => {
  function* counted(seen: number[], costs: readonly number[]): Steps<string> {
    for (const cost of costs) {
      seen.push(cost);
      yield cost;
    }
    return 'done';
  }

  it('runs at once', () => {
    const seen: number[] = [];
    expect(finished(counted(seen, [1000, 1000]))).toBe('done');
    expect(seen).toHaveLength(2);
  });

  it('yields the event loop when the steps of a turn cost enough', async () => {
    const seen: number[] = [];
    const turns: (() => void)[] = [];
    const defer = (resume: () => void) => {
      turns.push(resume);
      return { cancel: () => undefined };
    };
    const all = inTurns({ defer }, counted(seen, [200, 200, 200, 1, 1000, 5]));
    const after: number[] = [];
    while (turns.length > 0) {
      after.push(seen.length);
      turns.shift()!();
      await Promise.resolve();
    }
    expect(await all).toBe('done');
    expect(after).toEqual([3, 5]);
  });

  it('fails as its steps do', async () => {
    function* failing(): Steps<never> {
      yield 1;
      throw new Error('no');
    }
    await expect(inTurns({ defer: () => ({ cancel: () => undefined }) }, failing())).rejects.toThrow('no');
  });
});
