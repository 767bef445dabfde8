import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { ToldRevisions } from './told-revisions.ts';

function setUp() {
  const clock = new FakeClock();
  const told = new ToldRevisions(clock);
  const answered: number[] = [];
  const write = (revision: number): void => {
    void told.reached(revision).then(() => answered.push(revision));
  };
  const turn = async (): Promise<number[]> => {
    await new Promise((next) => setImmediate(next));
    return answered.splice(0);
  };
  return { clock, told, write, turn };
}

describe('answers that wait until watches have the event', () => {
  it('come when watches have their revision, in any order, and at once when they had it before', async () => {
    const { told, write, turn, clock } = setUp();
    write(3);
    write(2);
    expect(await turn()).toEqual([]);
    told.advance(2);
    expect(await turn()).toEqual([2]);
    told.advance(5);
    expect(await turn()).toEqual([3]);
    write(4);
    expect(await turn()).toEqual([4]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wait half a second each at most', async () => {
    const { write, turn, clock } = setUp();
    write(2);
    clock.advance(300);
    write(3);
    clock.advance(200);
    expect(await turn()).toEqual([2]);
    clock.advance(299);
    expect(await turn()).toEqual([]);
    clock.advance(1);
    expect(await turn()).toEqual([3]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('do not wait for a revision that will never come', async () => {
    const { told, write, turn, clock } = setUp();
    write(2);
    told.releaseAll();
    expect(await turn()).toEqual([2]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('after a restart wait for the revisions from before, when revisions begin anew', async () => {
    const { told, write, turn, clock } = setUp();
    told.advance(1000);
    told.restart(1);
    write(5);
    expect(await turn()).toEqual([]);
    told.advance(4);
    expect(await turn()).toEqual([]);
    told.advance(5);
    expect(await turn()).toEqual([5]);
    expect(clock.pendingTimers).toBe(0);
  });
});
