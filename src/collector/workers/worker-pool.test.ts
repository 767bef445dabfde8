import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { WorkGate } from './work-gate.ts';
import { WorkerPool, type WorkOutcome } from './worker-pool.ts';

const turn = (): Promise<void> => new Promise((next) => systemClock.defer(next));
const term = () => ({ stopping: new AbortController().signal, calls: new AbortController().signal });

function openGate(): WorkGate {
  const gate = new WorkGate();
  gate.open(term());
  return gate;
}

function setUp(process: (key: string) => Promise<WorkOutcome>, workers = 2, gate = openGate()) {
  const clock = new FakeClock();
  const metrics = new MemoryMetrics();
  const queue = new RateLimitingQueue<string>({ name: 'q', clock, metrics });
  const stop = new AbortController();
  const pool = new WorkerPool({ queue, workers, clock, logger: silentLogger, process, gate, stopping: stop.signal });
  return { clock, metrics, queue, pool, stop, done: pool.run() };
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

  it('COL-084 begins a bounded number of keys in one turn of the event loop, also when none of them waits for anything', async () => {
    const begun: string[] = [];
    const { clock, queue, done } = setUp((key) => {
      begun.push(key);
      return Promise.resolve('forget');
    }, 20);
    for (let key = 0; key < 1000; key++) queue.add(String(key));
    const inTurns: number[] = [];
    for (let round = 0; round < 100 && begun.length < 1000; round++) {
      const before = begun.length;
      clock.runDeferred();
      await turn();
      inTurns.push(begun.length - before);
    }
    expect(begun).toHaveLength(1000);
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(64);
    queue.shutDown();
    await done;
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

  it('COL-215 takes no key after it was stopped, finishes the one in work, and does not sit out its pause', async () => {
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

describe('WorkerPool at a gate', () => {
  it('COL-214 COL-190 takes no key while it is closed: none is in work, however long that lasts', async () => {
    const seen: string[] = [];
    const gate = new WorkGate();
    const note = (key: string): Promise<WorkOutcome> => {
      seen.push(key);
      return Promise.resolve('forget');
    };
    const { clock, metrics, queue, pool, done } = setUp(note, 2, gate);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await turn();
    clock.advance(3_600_000);
    const labels = { name: 'q' };
    expect([seen, queue.len(), queue.processing, pool.busy]).toEqual([[], 3, 0, 0]);
    expect(metrics.value('workqueue_depth', labels)).toBe(3);
    gate.open(term());
    await turn();
    expect([seen, queue.len()]).toEqual([['a', 'b', 'c'], 0]);
    expect(metrics.observations('workqueue_work_duration_seconds', labels)).toEqual({ count: 3, sum: 0 });
    queue.shutDown();
    await done;
  });

  it('COL-214 a key that comes to workers who began to wait for it before it was closed waits for the next term, and has failed nothing', async () => {
    const seen: string[] = [];
    const gate = openGate();
    const { queue, pool, done } = setUp(
      (key) => {
        seen.push(key);
        return Promise.resolve('forget');
      },
      3,
      gate,
    );
    await turn();
    await gate.close();
    for (const key of ['a', 'b', 'c', 'd']) {
      queue.add(key);
      await turn();
    }
    expect([seen, queue.len(), queue.processing, pool.busy]).toEqual([[], 4, 0, 0]);
    expect([queue.delayed, queue.numRequeues('a')]).toEqual([0, 0]);
    gate.open(term());
    await turn();
    expect([seen.toSorted(), queue.len()]).toEqual([['a', 'b', 'c', 'd'], 0]);
    queue.shutDown();
    await done;
  });

  it('COL-081 COL-214 a key that is asked for while it is put back waits once', async () => {
    const gate = openGate();
    const { queue, done } = setUp(() => Promise.resolve('forget'), 1, gate);
    await turn();
    await gate.close();
    queue.add('a');
    queue.add('a');
    expect(queue.wake('a')).toBe(false);
    await turn();
    expect([queue.len(), queue.processing, queue.delayed]).toEqual([1, 0, 0]);
    queue.shutDown();
    gate.end();
    await done;
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    'COL-214 begins nothing once it is closed, and loses nothing, wherever the workers are (%i turns after it was opened)',
    async (turns) => {
      const begun: boolean[] = [];
      const gate = new WorkGate();
      const { queue, done } = setUp(
        () => {
          begun.push(gate.isOpen);
          return Promise.resolve('forget');
        },
        2,
        gate,
      );
      for (let key = 0; key < 10; key++) queue.add(String(key));
      await turn();
      gate.open(term());
      for (let left = turns; left > 0; left--) await Promise.resolve();
      await gate.close();
      await turn();
      expect(begun).not.toContain(false);
      expect([begun.length + queue.len(), queue.processing]).toEqual([10, 0]);
      gate.open(term());
      await turn();
      expect([begun.length, queue.len()]).toEqual([10, 0]);
      queue.shutDown();
      await done;
    },
  );

  it('COL-215 everybody who waits for it continues when it stops, and the keys are left where they are', async () => {
    const gate = new WorkGate();
    const { queue, done } = setUp(() => Promise.resolve('forget'), 2, gate);
    queue.add('a');
    await turn();
    gate.end();
    await done;
    expect([queue.len(), queue.processing]).toEqual([1, 0]);
  });
});
