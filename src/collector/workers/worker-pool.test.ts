import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { FakeClock } from '../../base/fake-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { WorkerPool, type WorkOutcome } from './worker-pool.ts';

const turn = (): Promise<void> => new Promise((next) => systemClock.defer(next));

function setUp(process: (key: string) => Promise<WorkOutcome>, workers = 2) {
  const clock = new FakeClock();
  const queue = new RateLimitingQueue<string>({ name: 'q', clock });
  const stop = new AbortController();
  const pool = new WorkerPool({ queue, workers, clock, logger: silentLogger, process, stopping: stop.signal });
  return { clock, queue, pool, stop, done: pool.run() };
}

describe('WorkerPool', () => {
  it('COL-084 works on as many keys at once as it has workers, and ends when the queue is shut down', async () => {
    const release: (() => void)[] = [];
    const { queue, pool, done } = setUp(() => new Promise((settle) => release.push(() => settle('forget'))));
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await turn();
    expect([pool.busy, release.length, queue.len()]).toEqual([2, 2, 1]);
    release.shift()?.();
    await turn();
    expect([pool.busy, queue.len()]).toEqual([2, 0]);
    queue.shutDown();
    for (const settle of release) settle();
    await done;
    expect(pool.busy).toBe(0);
  });

  it('COL-082 COL-083 puts a key back with growing delays, until an outcome resets it', async () => {
    const seen: string[] = [];
    const outcomes: WorkOutcome[] = ['requeue', 'requeue', 'forget'];
    const { clock, queue, done } = setUp((key) => {
      seen.push(key);
      return Promise.resolve(outcomes.shift() ?? 'forget');
    }, 1);
    queue.add('a');
    await turn();
    expect([seen.length, queue.numRequeues('a')]).toEqual([1, 1]);
    clock.advance(5);
    await turn();
    expect([seen.length, queue.numRequeues('a')]).toEqual([2, 2]);
    clock.advance(9);
    await turn();
    expect(seen.length).toBe(2);
    clock.advance(1);
    await turn();
    expect([seen.length, queue.numRequeues('a')]).toEqual([3, 0]);
    queue.shutDown();
    await done;
  });

  it('COL-083 neither puts back nor resets a key that is left', async () => {
    const outcomes: WorkOutcome[] = ['requeue', 'leave'];
    const { clock, queue, done } = setUp(() => Promise.resolve(outcomes.shift() ?? 'forget'), 1);
    queue.add('a');
    await turn();
    clock.advance(5);
    await turn();
    expect([outcomes.length, queue.len(), queue.delayed, queue.numRequeues('a')]).toEqual([0, 0, 0, 1]);
    queue.shutDown();
    await done;
  });

  it('COL-084 COL-156 survives an exception, tries the key again, and goes on after a second', async () => {
    let calls = 0;
    const { clock, queue, done } = setUp(() => {
      calls++;
      return calls === 1 ? Promise.reject(new Error('fault')) : Promise.resolve('forget');
    }, 1);
    queue.add('a');
    await turn();
    expect([calls, queue.numRequeues('a')]).toEqual([1, 1]);
    clock.advance(1000);
    await turn();
    await turn();
    expect([calls, queue.numRequeues('a')]).toEqual([2, 0]);
    queue.shutDown();
    await done;
  });

  it('COL-215 takes no key after it was told to stop, finishes the one in work, and does not sit out its pause', async () => {
    const seen: string[] = [];
    let fail: (() => void) | undefined;
    const { queue, stop, done } = setUp((key) => {
      seen.push(key);
      return new Promise((_settle, reject) => {
        fail = () => reject(new Error('fault'));
      });
    }, 1);
    queue.add('a');
    queue.add('b');
    await turn();
    stop.abort();
    queue.shutDown();
    fail?.();
    await done;
    expect([seen, queue.len()]).toEqual([['a'], 0]);
  });
});
