import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import {
  bucketRateLimiter,
  itemExponentialFailureRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
} from './rate-limiters.ts';
import { RateLimitingQueue } from './rate-limiting-queue.ts';

/** Takes all ready items, counts a failure of each, and ends the work on them. */
function failAll(queue: RateLimitingQueue<string>): void {
  const taken: string[] = [];
  for (let got = queue.tryGet(); got !== undefined && !got.shutdown; got = queue.tryGet()) taken.push(got.item);
  for (const item of taken) {
    queue.addRateLimited(item);
    queue.done(item);
  }
}

describe('RateLimitingQueue', () => {
  it('COL-082 makes an item that fails wait longer each time; COL-083 forget starts over', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    const readyAfter = (): number => {
      const start = clock.monotonic();
      queue.addRateLimited('a');
      while (queue.len() === 0) clock.advance(1);
      queue.tryGet();
      queue.done('a');
      return clock.monotonic() - start;
    };
    expect([readyAfter(), readyAfter(), readyAfter()]).toEqual([5, 10, 20]);
    expect(queue.numRequeues('a')).toBe(3);
    queue.forget('a');
    expect(queue.numRequeues('a')).toBe(0);
    expect(readyAfter()).toBe(5);
  });

  it('BETTER-8 an item in long backoff is ready at once when woken, and its failures still count', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    for (let i = 0; i < 18; i++) queue.addRateLimited('a');
    clock.advance(5);
    expect(queue.tryGet()).toEqual({ item: 'a', shutdown: false });
    queue.done('a');
    queue.addRateLimited('a');
    expect(clock.nextTimerInMs).toBe(1_000_000);
    expect(queue.wake('a')).toBe(true);
    expect(queue.len()).toBe(1);
    expect(queue.numRequeues('a')).toBe(19);
  });

  describe('BETTER-8 an item that is woken while it is in work', () => {
    function inWork() {
      const clock = new FakeClock();
      const queue = new RateLimitingQueue<string>({ name: 'q', clock });
      queue.add('a');
      queue.tryGet();
      return { clock, queue };
    }
    const wakes = [
      { how: 'wake', wake: (queue: RateLimitingQueue<string>) => expect(queue.wake('a')).toBe(false) },
      { how: 'wakeAll', wake: (queue: RateLimitingQueue<string>) => queue.wakeAll() },
    ];

    it.each(wakes)('is tried again at once if it fails, and its failure counts ($how)', ({ wake }) => {
      const { queue } = inWork();
      wake(queue);
      expect([queue.len(), queue.delayed]).toEqual([0, 0]);
      queue.addRateLimited('a');
      queue.done('a');
      expect([queue.len(), queue.delayed, queue.numRequeues('a')]).toEqual([1, 0, 1]);
    });

    it.each(wakes)('once: what fails again waits ($how)', ({ wake }) => {
      const { clock, queue } = inWork();
      wake(queue);
      wake(queue);
      queue.addRateLimited('a');
      queue.done('a');
      queue.tryGet();
      queue.addRateLimited('a');
      queue.done('a');
      expect([queue.len(), queue.delayed, clock.nextTimerInMs]).toEqual([0, 1, 10]);
    });

    it.each(wakes)('and does not fail: nothing comes of it, then or later ($how)', ({ wake }) => {
      const { queue } = inWork();
      wake(queue);
      queue.done('a');
      expect([queue.len(), queue.processing]).toEqual([0, 0]);
      queue.add('a');
      failAll(queue);
      expect([queue.len(), queue.delayed]).toEqual([0, 1]);
    });

    it('is not put off less by a caller who says how long', () => {
      const { queue } = inWork();
      queue.wake('a');
      queue.addAfter('a', 1000);
      expect([queue.len(), queue.delayed]).toEqual([0, 1]);
    });

    it('and is delayed already: is woken from that, and waits when it fails', () => {
      const { queue } = inWork();
      queue.addRateLimited('a');
      queue.wakeAll();
      queue.addRateLimited('a');
      queue.done('a');
      expect([queue.len(), queue.delayed]).toEqual([1, 1]);
    });

    it('leaves its place in the bucket (COL-082)', () => {
      const { clock, queue } = setUpBucket();
      for (let i = 0; i < 100; i++) {
        queue.add('a');
        queue.tryGet();
        queue.wake('a');
        queue.addRateLimited('a');
        queue.done('a');
      }
      queue.tryGet();
      queue.done('a');
      for (const item of ['b', 'c']) queue.addRateLimited(item);
      expect(delayOfFresh(queue, clock)).toBe(100);
    });
  });

  it('counts nothing once it shuts down', () => {
    const queue = new RateLimitingQueue<string>({ name: 'q', clock: new FakeClock() });
    queue.shutDown();
    queue.addRateLimited('a');
    expect([queue.numRequeues('a'), queue.delayed]).toEqual([0, 0]);
  });

  it('BETTER-8 what is woken does not wait, and what fails next does not wait for it (COL-082)', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    for (let i = 0; i < 200; i++) queue.add(`key-${i}`);
    failAll(queue);
    for (let round = 0; round < 50; round++) {
      queue.wakeAll();
      expect([queue.delayed, queue.len()]).toEqual([0, 200]);
      failAll(queue);
    }
    const delay = delayOfFresh(queue, clock);
    expect(delay).toBeGreaterThan(9000);
    // A tenth of a second for each of the 200 items and this one, minus the burst.
    expect(delay).toBeLessThanOrEqual(10_100);
  });

  it('BETTER-8 the same when each is woken by itself, every second', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    for (let i = 0; i < 500; i++) queue.add(`key-${i}`);
    failAll(queue);
    for (let second = 0; second < 60; second++) {
      clock.advance(1000);
      for (let i = 0; i < 500; i++) queue.wake(`key-${i}`);
      failAll(queue);
    }
    expect(delayOfFresh(queue, clock)).toBeLessThanOrEqual(40_100);
  });

  it('COL-083 an item that fails once more while it is delayed holds one place, not two', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    for (let i = 0; i < 1000; i++) {
      queue.add('a');
      failAll(queue);
    }
    expect([queue.delayed, queue.numRequeues('a')]).toEqual([1, 1000]);
    expect(delayOfFresh(queue, clock)).toBe(5);
  });

  it('an item that somebody else brings sooner leaves its place, as often as that is', () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'q', clock });
    for (let i = 0; i < 1000; i++) {
      queue.addRateLimited('a');
      queue.addAfter('a', 1);
      clock.advance(1);
      failAll(queue);
    }
    expect(delayOfFresh(queue, clock)).toBe(5);
  });

  function setUpBucket() {
    const clock = new FakeClock();
    const rateLimiter = bucketRateLimiter<string>({ ratePerSecond: 10, burst: 2, clock });
    return { clock, queue: new RateLimitingQueue<string>({ name: 'q', clock, rateLimiter }) };
  }

  it('COL-082 what waited for its time gives nothing back', () => {
    const { clock, queue } = setUpBucket();
    for (const item of ['a', 'b', 'c', 'd']) queue.addRateLimited(item);
    expect(queue.delayed).toBe(2);
    clock.advance(200);
    expect(queue.delayed).toBe(0);
    expect(delayOfFresh(queue, clock)).toBe(100);
  });

  it('COL-082 a time that a caller chose took nothing from the bucket, and gives nothing back', () => {
    const { clock, queue } = setUpBucket();
    for (const item of ['a', 'b']) queue.addRateLimited(item);
    for (const ms of [500, 400, 600]) queue.addAfter('c', ms);
    queue.wake('c');
    queue.addAfter('c', 500);
    queue.wakeAll();
    expect(delayOfFresh(queue, clock)).toBe(100);
  });

  it('COL-081 BETTER-8 agrees with a model of what waits, is in work, delayed and woken, under any mixture of operations', () => {
    const op = fc.record({
      kind: fc.constantFrom('add', 'get', 'get', 'fail', 'putOff', 'done', 'wake', 'wakeAll', 'advance', 'forget'),
      item: fc.constantFrom('a', 'b'),
      ms: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(op, { maxLength: 100, size: 'max' }), (ops) => {
        const clock = new FakeClock();
        const rateLimiter = itemExponentialFailureRateLimiter<string>({ baseMs: 5, capMs: 50 });
        const queue = new RateLimitingQueue<string>({ name: 'q', clock, rateLimiter });
        const waiting: string[] = [];
        const work = new Map<string, { dirty: boolean; woken: boolean }>();
        const due = new Map<string, number>();
        const failures = new Map<string, number>();
        const add = (item: string): void => {
          const inWork = work.get(item);
          if (inWork !== undefined) inWork.dirty = true;
          else if (!waiting.includes(item)) waiting.push(item);
        };
        const wake = (item: string): boolean => {
          if (due.delete(item)) {
            add(item);
            return true;
          }
          const inWork = work.get(item);
          if (inWork !== undefined) inWork.woken = true;
          return false;
        };
        const fail = (item: string): void => {
          const failed = failures.get(item) ?? 0;
          failures.set(item, failed + 1);
          const inWork = work.get(item);
          const readyAt = clock.monotonic() + Math.min(5 * 2 ** failed, 50);
          if (inWork?.woken === true) {
            inWork.woken = false;
            add(item);
          } else due.set(item, Math.min(due.get(item) ?? Infinity, readyAt));
        };
        const done = (item: string): void => {
          const inWork = work.get(item);
          work.delete(item);
          if (inWork?.dirty === true) add(item);
        };
        const inOrder = (): [string, number][] => [...due].toSorted(([, a], [, b]) => a - b);
        for (const { kind, item, ms } of ops) {
          // The order of two items that are due at the same time is undefined.
          const tied = new Set(due.values()).size < due.size;
          if (tied && (kind === 'advance' || kind === 'wakeAll')) continue;
          if (kind === 'get') {
            const next = waiting.shift();
            expect(queue.tryGet()).toEqual(next === undefined ? undefined : { item: next, shutdown: false });
            if (next !== undefined) work.set(next, { dirty: false, woken: false });
          } else if (kind === 'wake') {
            expect(queue.wake(item)).toBe(wake(item));
          } else if (kind === 'wakeAll') {
            queue.wakeAll();
            const delayed = inOrder();
            for (const inWork of work.keys()) if (!due.has(inWork)) wake(inWork);
            for (const [each] of delayed) wake(each);
          } else if (kind === 'advance') {
            clock.advance(ms);
            for (const [each, at] of inOrder()) if (at <= clock.monotonic() && due.delete(each)) add(each);
          } else if (kind === 'add') {
            queue.add(item);
            add(item);
          } else if (kind === 'forget') {
            queue.forget(item);
            failures.delete(item);
          } else {
            if (kind !== 'done') {
              queue.addRateLimited(item);
              fail(item);
            }
            if (kind !== 'putOff') {
              queue.done(item);
              done(item);
            }
          }
          expect([queue.len(), queue.processing, queue.delayed]).toEqual([waiting.length, work.size, due.size]);
          expect(queue.numRequeues(item)).toBe(failures.get(item) ?? 0);
        }
      }),
    );
  });

  it('COL-082 the bucket owes no more than the delayed items explain, and lets no more pass than it has', () => {
    const item = fc.constantFrom(...'abcdefghijkl');
    const op = fc.record({
      kind: fc.constantFrom('fail', 'fail', 'fail', 'add', 'addAfter', 'wake', 'wakeAll', 'advance', 'forget'),
      item,
      ms: fc.integer({ min: 1, max: 400 }),
    });
    const [ratePerSecond, burst] = [10, 3];
    fc.assert(
      fc.property(fc.array(op, { maxLength: 200 }), (ops) => {
        const clock = new FakeClock();
        const bucket = bucketRateLimiter<string>({ ratePerSecond, burst, clock });
        const rateLimiter = maxOfRateLimiter(
          itemExponentialFailureRateLimiter<string>({ baseMs: 5, capMs: 2000 }),
          bucket,
        );
        const queue = new RateLimitingQueue<string>({ name: 'q', clock, rateLimiter });
        // The number of items whose delay ended by itself, set by the limiter or by a caller.
        let timely = 0;
        let callers = 0;
        for (const { kind, item: chosen, ms } of ops) {
          if (kind === 'fail') queue.addRateLimited(chosen);
          else if (kind === 'add') queue.add(chosen);
          else if (kind === 'wake') queue.wake(chosen);
          else if (kind === 'wakeAll') queue.wakeAll();
          else if (kind === 'forget') queue.forget(chosen);
          else if (kind === 'addAfter') {
            queue.addAfter(chosen, ms);
            callers++;
          } else {
            const before = queue.delayed;
            clock.advance(ms);
            timely += before - queue.delayed;
          }
          if (kind !== 'advance') while (queue.tryGet()?.shutdown === false);
          expect(debtOf(bucket, ratePerSecond)).toBeLessThanOrEqual(queue.delayed + 1e-6);
          expect(timely - callers).toBeLessThanOrEqual(burst + (clock.monotonic() * ratePerSecond) / 1000 + 1e-6);
        }
      }),
    );
  });
});

/** Delay of the retry of an item that never failed before, ms. */
function delayOfFresh(queue: RateLimitingQueue<string>, clock: FakeClock): number {
  while (queue.tryGet() !== undefined);
  const start = clock.monotonic();
  queue.addRateLimited('fresh');
  for (;;) {
    const got = queue.tryGet();
    if (got !== undefined && !got.shutdown && got.item === 'fresh') return clock.monotonic() - start;
    if (got === undefined) clock.advance(clock.nextTimerInMs!);
  }
}

/** The tokens that the bucket gave out beyond those it had. */
function debtOf(bucket: RateLimiter<string>, ratePerSecond: number): number {
  const delay = bucket.when('probe');
  bucket.cancelled(1);
  return (delay * ratePerSecond) / 1000 - 1;
}
