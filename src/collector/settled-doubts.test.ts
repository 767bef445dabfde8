import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import { SettledDoubts } from './settled-doubts.ts';

describe('SettledDoubts', () => {
  it('COL-111 COL-002 counts a doubt once it is ten seconds old', () => {
    const clock = new FakeClock();
    const settled = new SettledDoubts(clock);
    expect(settled.count).toBe(0);
    settled.note(1);
    clock.advance(10_000);
    expect(settled.count).toBe(0);
    clock.advance(1000);
    expect(settled.count).toBe(1);
  });

  it('COL-111 law 5: doubts without a pause hold back none of those before them', () => {
    const clock = new FakeClock();
    const settled = new SettledDoubts(clock);
    for (let doubts = 1; doubts <= 1000; doubts++) {
      settled.note(doubts);
      clock.advance(100);
      // 100 ms apart: those of the last ten seconds are a hundred.
      expect(settled.count).toBeLessThanOrEqual(Math.max(0, doubts - 100));
      expect(settled.count).toBeGreaterThanOrEqual(doubts - 120);
    }
  });
});
