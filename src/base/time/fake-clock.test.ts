import { describe, expect, it } from 'vitest';
import { sleep } from './clock.ts';
import { FakeClock } from './fake-clock.ts';

describe('FakeClock', () => {
  it('fires timers in order of their time, ties in order of setting, at their own time', () => {
    const clock = new FakeClock(1000);
    const seen: [string, number][] = [];
    const note = (name: string) => () => seen.push([name, clock.now()]);
    clock.setTimer(20, note('b'));
    clock.setTimer(10, note('a'));
    clock.setTimer(20, note('c'));
    clock.setTimer(99, note('never'));
    clock.advance(50);
    expect(seen).toEqual([
      ['a', 1010],
      ['b', 1020],
      ['c', 1020],
    ]);
    expect(clock.now()).toBe(1050);
    expect(clock.monotonic()).toBe(50);
    expect(clock.pendingTimers).toBe(1);
    expect(clock.nextTimerInMs).toBe(49);
  });

  it('fires timers set while it advances, and none that were cancelled', () => {
    const clock = new FakeClock(0);
    const seen: number[] = [];
    clock.setTimer(10, () => clock.setTimer(10, () => seen.push(clock.now())));
    const cancelled = clock.setTimer(15, () => seen.push(-1));
    clock.setTimer(12, () => cancelled.cancel());
    clock.advance(20);
    expect(seen).toEqual([20]);
  });

  it('runs deferred functions before the next timer, one round per runDeferred', () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    clock.setTimer(1, () => seen.push('timer'));
    clock.defer(() => {
      seen.push('first');
      clock.defer(() => seen.push('second'));
    });
    clock.runDeferred();
    expect(seen).toEqual(['first']);
    clock.advance(1);
    expect(seen).toEqual(['first', 'second', 'timer']);
  });

  it('lets awaiting code set its next timer in advanceAsync', async () => {
    const clock = new FakeClock(0);
    const ticks: number[] = [];
    const loop = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) {
        await sleep(clock, 10);
        ticks.push(clock.now());
      }
    };
    const done = loop();
    await clock.advanceAsync(100);
    await done;
    expect(ticks).toEqual([10, 20, 30, 40, 50]);
  });
});
