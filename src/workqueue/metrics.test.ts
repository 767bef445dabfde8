import { expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import { MemoryMetrics } from '../base/metrics/memory-metrics.ts';
import type { HistogramDefinition } from '../base/metrics/metrics.ts';
import { RateLimitingQueue } from './rate-limiting-queue.ts';

const labels = { name: 'garbage_collector_attempt_to_delete' };

function setUp() {
  const clock = new FakeClock();
  const metrics = new MemoryMetrics();
  const queue = new RateLimitingQueue<string>({ name: labels.name, clock, metrics });
  const value = (name: string): number | undefined => metrics.value(`workqueue_${name}`, labels);
  return { clock, metrics, queue, value };
}

it('COL-190 has the metrics of component-base, with their buckets and the label name', () => {
  const { metrics } = setUp();
  expect(metrics.names.toSorted()).toEqual([
    'workqueue_adds_total',
    'workqueue_depth',
    'workqueue_longest_running_processor_seconds',
    'workqueue_queue_duration_seconds',
    'workqueue_retries_total',
    'workqueue_unfinished_work_seconds',
    'workqueue_work_duration_seconds',
  ]);
  for (const name of metrics.names) expect(metrics.definition(name)?.labelNames).toEqual(['name']);
  for (const name of ['workqueue_queue_duration_seconds', 'workqueue_work_duration_seconds']) {
    const { buckets } = metrics.definition(name) as HistogramDefinition;
    expect(buckets).toEqual([1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10]);
  }
});

it('COL-190 counts depth, adds, retries and durations over the life of an item', () => {
  const { clock, metrics, queue, value } = setUp();
  expect([value('depth'), value('adds_total'), value('retries_total')]).toEqual([0, 0, 0]);
  queue.add('a');
  queue.add('a');
  queue.add('b');
  expect([value('depth'), value('adds_total')]).toEqual([2, 2]);
  clock.advance(2000);
  queue.tryGet();
  expect(metrics.observations('workqueue_queue_duration_seconds', labels)).toEqual({ count: 1, sum: 2 });
  queue.add('a');
  expect([value('depth'), value('adds_total')]).toEqual([2, 3]);
  clock.advance(3000);
  queue.tryGet();
  clock.advance(1000);
  expect(value('unfinished_work_seconds')).toBe(5);
  expect(value('longest_running_processor_seconds')).toBe(4);
  queue.done('a');
  expect(metrics.observations('workqueue_work_duration_seconds', labels)).toEqual({ count: 1, sum: 4 });
  expect(value('longest_running_processor_seconds')).toBe(1);
  queue.done('b');
  queue.addAfter('c', 10);
  queue.addRateLimited('c');
  expect(value('retries_total')).toBe(2);
  expect(value('unfinished_work_seconds')).toBe(0);
  expect(value('depth')).toBe(1);
});

it('COL-190 what is dropped is no item that was taken or worked on; what stays is as old as it was', () => {
  const { clock, metrics, queue, value } = setUp();
  for (const item of ['a', 'b', 'c']) queue.add(item);
  clock.advance(2000);
  queue.dropWaiting((item) => item === 'b');
  expect([value('depth'), value('adds_total')]).toEqual([2, 3]);
  for (const name of ['workqueue_queue_duration_seconds', 'workqueue_work_duration_seconds']) {
    expect(metrics.observations(name, labels)).toEqual({ count: 0, sum: 0 });
  }
  clock.advance(1000);
  queue.tryGet();
  queue.tryGet();
  expect(metrics.observations('workqueue_queue_duration_seconds', labels)).toEqual({ count: 2, sum: 6 });
});
