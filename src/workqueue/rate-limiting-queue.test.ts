import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/fake-clock.ts';
import { RateLimitingQueue } from './rate-limiting-queue.ts';

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

  it('counts nothing once it shuts down', () => {
    const queue = new RateLimitingQueue<string>({ name: 'q', clock: new FakeClock() });
    queue.shutDown();
    queue.addRateLimited('a');
    expect([queue.numRequeues('a'), queue.delayed]).toEqual([0, 0]);
  });
});
