import { describe, expect, it } from 'vitest';
import { actsOnOldNewsForMs } from './old-news.ts';
import type { Step } from './plan.ts';

const latency = { oneIn: 0, maxMs: 0 };
const undisturbed = actsOnOldNewsForMs({ latency, steps: [] });

describe('how long a collector may act upon an old fact', () => {
  it('is no minute where nothing is disturbed, whatever clients do and however long it takes', () => {
    const steps: Step[] = [
      { do: 'create', at: 'ConfigMap/default/a' },
      { do: 'wait', ms: 35_000 },
      { do: 'crash', collector: 0 },
    ];
    expect(undisturbed).toBeLessThan(60_000);
    expect(actsOnOldNewsForMs({ latency, steps })).toBe(undisturbed);
  });

  it.each<[string, Step, number]>([
    ['silence, as often as it is silent', { do: 'fault', fault: 'silence', on: 'intake', times: 3 }, 3 * 60_000],
    ['a write without an answer', { do: 'fault', fault: 'silence', on: 'write', times: 1 }, 30_000],
    ['a partition, and the pause after it', { do: 'partition', collector: 0, ms: 20_000 }, 20_000 + 60_000],
    ['a watch that is held', { do: 'stream', stream: 'hold', ms: 5000 }, 5000],
    ['a watch that is lost, and its version with it', { do: 'stream', stream: 'gone' }, 2 * 60_000],
    ['a server that is away, and then older', { do: 'restore', awayMs: 5000, bump: false }, 5000 + 60_000],
    ['a definition that has to be seen', { do: 'define', kind: 'Gadget' }, 30_000],
  ])('is longer by what goes wrong: %s', (_, step, ms) => {
    expect(actsOnOldNewsForMs({ latency, steps: [step] })).toBeGreaterThanOrEqual(undisturbed + ms);
    expect(actsOnOldNewsForMs({ latency, steps: [step, step] })).toBeGreaterThanOrEqual(undisturbed + 2 * ms);
  });

  it('is longer where exchanges take time, and no longer than it takes until they are given up', () => {
    const slow = (maxMs: number): number => actsOnOldNewsForMs({ latency: { oneIn: 1, maxMs }, steps: [] });
    expect(slow(30)).toBeGreaterThan(undisturbed + 600);
    expect(slow(300)).toBeGreaterThan(slow(30));
    expect(slow(30_000)).toBe(slow(60_000));
  });
});
