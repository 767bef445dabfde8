import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import { DelayingQueue } from './delaying-queue.ts';
import { QueueFullError } from './queue.ts';

function setUp(bound?: number) {
  const clock = new FakeClock();
  const queue = new DelayingQueue<string>({ name: 'q', clock, ...(bound === undefined ? {} : { bound }) });
  const ready = (): string[] => {
    const taken: string[] = [];
    for (let got = queue.tryGet(); got !== undefined && !got.shutdown; got = queue.tryGet()) {
      taken.push(got.item);
      queue.done(got.item);
    }
    return taken;
  };
  return { clock, queue, ready };
}

describe('DelayingQueue', () => {
  it('BETTER-8 hastens what would wait for longer, and puts nothing off, however often it is asked', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('a', 60_000);
    queue.addAfter('b', 500);
    for (let i = 0; i < 9; i++) {
      expect([queue.hasten('a', 1000), queue.hasten('b', 1000), queue.hasten('c', 1000)]).toEqual([true, true, false]);
      clock.advance(50);
    }
    clock.advance(50);
    expect(ready()).toEqual(['b']);
    clock.advance(499);
    expect(ready()).toEqual([]);
    clock.advance(1);
    expect([ready(), queue.hasten('a', 1000), clock.pendingTimers]).toEqual([['a'], false, 0]);
  });

  it('adds an item when its time is over, not before, in order of due times', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('late', 200);
    queue.addAfter('soon', 100);
    clock.advance(99);
    expect(ready()).toEqual([]);
    clock.advance(1);
    expect(ready()).toEqual(['soon']);
    clock.advance(100);
    expect(ready()).toEqual(['late']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('adds at once without a delay, for nonsense too', () => {
    const { queue, ready } = setUp();
    for (const [item, delay] of [
      ['a', 0],
      ['b', -5],
      ['c', Number.NaN],
    ] as const)
      queue.addAfter(item, delay);
    expect(ready()).toEqual(['a', 'b', 'c']);
  });

  it('keeps the earliest of several delays of one item and adds it once', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('a', 100);
    queue.addAfter('a', 50);
    queue.addAfter('a', 200);
    expect(queue.delayed).toBe(1);
    clock.advance(50);
    expect(ready()).toEqual(['a']);
    clock.advance(1000);
    expect(ready()).toEqual([]);
  });

  it('lists the waiting items, and for how long they still wait', () => {
    const { clock, queue } = setUp();
    expect([...queue.delays()]).toEqual([]);
    queue.addAfter('a', 100);
    queue.addAfter('b', 70);
    queue.addAfter('a', 50);
    clock.advance(20);
    expect([...queue.delays()]).toEqual([
      { item: 'a', inMs: 30 },
      { item: 'b', inMs: 50 },
    ]);
    queue.wake('a');
    expect([...queue.delays()]).toEqual([{ item: 'b', inMs: 50 }]);
  });

  it('uses one timer however many items wait', () => {
    const { clock, queue, ready } = setUp();
    for (let i = 0; i < 100; i++) queue.addAfter(`i${i}`, 1000 - i);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1000);
    expect(ready()).toHaveLength(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it('COL-083 lets a plain add pass a delay, which then still comes', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('a', 100);
    queue.add('a');
    expect(ready()).toEqual(['a']);
    clock.advance(100);
    expect(ready()).toEqual(['a']);
  });

  it('BETTER-8 makes a delayed item ready at once, and only a delayed one', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('a', 1_000_000);
    queue.addAfter('b', 2_000_000);
    expect([queue.wake('a'), queue.wake('a'), queue.wake('unknown')]).toEqual([true, false, false]);
    expect(ready()).toEqual(['a']);
    expect(clock.nextTimerInMs).toBe(2_000_000);
    expect(queue.wake('b')).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('BETTER-8 makes all delayed items ready at once, in the order of their times', () => {
    const { clock, queue, ready } = setUp();
    queue.addAfter('late', 200);
    queue.addAfter('soon', 100);
    queue.wakeAll();
    expect([ready(), queue.delayed, clock.pendingTimers]).toEqual([['soon', 'late'], 0, 0]);
  });

  it('BETTER-8 an item woken while in work is processed again afterwards', () => {
    const { queue } = setUp();
    queue.add('a');
    queue.tryGet();
    queue.addAfter('a', 1000);
    queue.wake('a');
    expect(queue.len()).toBe(0);
    queue.done('a');
    expect(queue.tryGet()).toEqual({ item: 'a', shutdown: false });
  });

  it.each(['shutDown', 'shutDownWithDrain'] as const)('drops delayed items at %s and takes no more', async (how) => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 100);
    await queue[how]();
    queue.addAfter('b', 100);
    expect([queue.delayed, clock.pendingTimers]).toEqual([0, 0]);
    expect(await queue.get()).toEqual({ shutdown: true });
  });

  it('refuses more delayed items than its bound', () => {
    const { queue } = setUp(1);
    queue.addAfter('a', 10);
    queue.addAfter('a', 5);
    expect(() => queue.addAfter('b', 10)).toThrow(QueueFullError);
  });

  it('agrees with a list of due times under any mixture of operations', () => {
    const item = fc.constantFrom('a', 'b', 'c', 'd');
    const op = fc.record({
      kind: fc.constantFrom('addAfter', 'addAfter', 'advance', 'wake', 'take'),
      item,
      ms: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(fc.array(op, { maxLength: 60 }), (ops) => {
        const { clock, queue, ready } = setUp();
        const due = new Map<string, number>();
        let readyNow = new Set<string>();
        for (const { kind, item: chosen, ms } of ops) {
          if (kind === 'addAfter') {
            queue.addAfter(chosen, ms);
            due.set(chosen, Math.min(due.get(chosen) ?? Infinity, clock.monotonic() + ms));
          } else if (kind === 'advance') {
            clock.advance(ms);
            for (const [name, at] of due) {
              if (at > clock.monotonic()) continue;
              readyNow.add(name);
              due.delete(name);
            }
          } else if (kind === 'wake') {
            expect(queue.wake(chosen)).toBe(due.delete(chosen) && readyNow.add(chosen) !== undefined);
          } else {
            expect(ready().toSorted()).toEqual([...readyNow].toSorted());
            readyNow = new Set();
          }
          expect(queue.delayed).toBe(due.size);
          expect(queue.len()).toBe(readyNow.size);
          expect(clock.pendingTimers).toBe(due.size > 0 ? 1 : 0);
        }
      }),
    );
  });
});
