import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { ReopenedWatches } from './reopened-watches.ts';

/** `answered`: the watches that are opened anew at once when they are asked to. */
function setUp(count: number, answered: (index: number) => boolean = () => true) {
  const clock = new FakeClock();
  const opened: number[] = [];
  const watches = Array.from({ length: count }, (_, index) => ({
    suspected: false,
    suspect() {
      this.suspected = true;
    },
    reopen() {
      opened.push(index);
      if (answered(index)) this.suspected = false;
    },
  }));
  return { clock, opened, watches, reopened: new ReopenedWatches({ clock, watches: () => watches }) };
}

describe('ReopenedWatches', () => {
  it('COL-116 opens each watch that was open during an outage anew once, ten at a time', () => {
    const { clock, opened, watches, reopened } = setUp(25);
    expect(reopened.settled).toBe(true);
    reopened.suspect();
    expect(watches.every(({ suspected }) => suspected)).toBe(true);
    clock.advance(999);
    expect(opened).toEqual([]);
    clock.advance(1);
    expect(opened).toHaveLength(10);
    clock.advance(100);
    expect([opened.length, reopened.settled]).toEqual([20, false]);
    clock.advance(60_000);
    expect(opened).toEqual(Array.from({ length: 25 }, (_, index) => index));
    expect(reopened.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('COL-116 leaves out watches that opened anew by themselves', () => {
    const { clock, opened, watches, reopened } = setUp(25);
    reopened.suspect();
    for (const watch of watches.slice(0, 8)) watch.suspected = false;
    clock.advance(1000);
    for (const watch of watches.slice(20)) watch.suspected = false;
    clock.advance(60_000);
    expect(opened).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });

  it('COL-116 begins a round every 30 s at most, however often the server is away', () => {
    const { clock, opened, reopened } = setUp(3);
    for (let second = 0; second < 90; second++) {
      reopened.suspect();
      clock.advance(1000);
    }
    expect(opened).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  });

  it('COL-048 tries again after 30 s what was not opened anew, and waits for nobody', () => {
    const { clock, opened, watches, reopened } = setUp(2, (index) => index === 1);
    reopened.suspect();
    clock.advance(60_999);
    expect(opened).toEqual([0, 1, 0]);
    watches[0]!.suspected = false;
    clock.advance(60_000);
    expect(opened).toEqual([0, 1, 0]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no timer behind when it is stopped', () => {
    const { clock, reopened } = setUp(25);
    reopened.suspect();
    reopened.stop();
    expect(clock.pendingTimers).toBe(0);
    reopened.suspect();
    clock.advance(1000);
    reopened.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
