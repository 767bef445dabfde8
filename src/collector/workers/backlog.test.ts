import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { workKey, type WorkKey } from '../queues/work-key.ts';
import { Backlog } from './backlog.ts';

it('BETTER-23 a queue that nobody works on keeps the keys of what exists, in their order, and no more', () => {
  const queue = new RateLimitingQueue<WorkKey>({ name: 'test', clock: new FakeClock() });
  const existing = new Set<string>();
  const backlog = new Backlog(queue, { find: (uid) => (existing.has(uid) ? 0 : -1) });
  let most = 0;
  for (let round = 0; round < 50; round++) {
    for (let index = 0; index < 500; index++) queue.add(workKey(`gone-${round}-${index}`, 'observed'));
    const kept = `kept-${round}`;
    existing.add(kept);
    queue.add(workKey(kept, round % 2 === 0 ? 'observed' : 'virtual'));
    backlog.sweep();
    most = Math.max(most, queue.len());
  }
  expect(most).toBeLessThan(2 * existing.size + 1000 + 501);
  for (let index = 0; index < 2000; index++) queue.add(workKey(`late-${index}`, 'observed'));
  expect(backlog.sweep()).toBeGreaterThanOrEqual(2000);
  const left: string[] = [];
  for (let next = queue.tryGet(); next !== undefined && !next.shutdown; next = queue.tryGet()) left.push(next.item);
  expect(left).toEqual([...existing].map((uid, index) => workKey(uid, index % 2 === 0 ? 'observed' : 'virtual')));
});

it('BETTER-23 COL-083 what is dropped has its failures forgotten, what is kept does not', () => {
  const clock = new FakeClock();
  const queue = new RateLimitingQueue<WorkKey>({ name: 'test', clock });
  const [gone, kept] = [workKey('gone', 'observed'), workKey('kept', 'observed')];
  for (let failure = 0; failure < 3; failure++) {
    queue.addRateLimited(gone);
    queue.addRateLimited(kept);
  }
  for (let index = 0; index < 1000; index++) queue.add(workKey(`other-${index}`, 'observed'));
  clock.advance(1000);
  const dropped: string[] = [];
  const backlog = new Backlog(queue, { find: (uid) => (uid === 'kept' ? 0 : -1) }, (key) => void dropped.push(key));
  expect([backlog.sweep(), dropped.length, dropped.includes(gone)]).toEqual([1001, 1001, true]);
  expect([queue.numRequeues(gone), queue.numRequeues(kept)]).toEqual([0, 3]);
});

it('BETTER-23 COL-190 a sweep counts as no work', () => {
  const clock = new FakeClock();
  const metrics = new MemoryMetrics();
  const queue = new RateLimitingQueue<WorkKey>({ name: 'test', clock, metrics });
  const backlog = new Backlog(queue, { find: (uid) => (uid.startsWith('kept') ? 0 : -1) });
  const labels = { name: 'test' };
  const value = (name: string) => metrics.value(`workqueue_${name}`, labels);
  const durations = (name: string) => metrics.observations(`workqueue_${name}_duration_seconds`, labels).count;
  for (let index = 0; index < 700; index++) {
    queue.add(workKey(`kept-${index}`, 'observed'));
    queue.add(workKey(`gone-${index}`, 'observed'));
  }
  clock.advance(10_000);
  expect(backlog.sweep()).toBe(700);
  expect([value('adds_total'), value('depth'), durations('queue'), durations('work')]).toEqual([1400, 700, 0, 0]);
});

it('BETTER-23 what was needed when this process led last makes no room for what is not needed now', () => {
  const queue = new RateLimitingQueue<WorkKey>({ name: 'test', clock: new FakeClock() });
  const existing = new Set<string>();
  const backlog = new Backlog(queue, { find: (uid) => (existing.has(uid) ? 0 : -1) });
  for (let index = 0; index < 5000; index++) {
    existing.add(`o${index}`);
    queue.add(workKey(`o${index}`, 'observed'));
  }
  expect(backlog.sweep()).toBe(0);
  // The process leads, and processes all keys.
  for (let next = queue.tryGet(); next !== undefined && !next.shutdown; next = queue.tryGet()) queue.done(next.item);
  existing.clear();
  expect(backlog.sweep()).toBe(0);
  for (let index = 0; index < 1000; index++) queue.add(workKey(`gone-${index}`, 'observed'));
  expect(backlog.sweep()).toBe(1000);
});
