import type { Clock } from '../base/time/clock.ts';
import type { Metrics } from '../base/metrics/metrics.ts';

/** 10^-8 * 10^n seconds, n = 0..9 (COL-190). */
const DURATION_BUCKETS = Array.from({ length: 10 }, (_, n) => Number(`1e${n - 8}`));

/** The queue's report about itself; times are `clock.monotonic()` milliseconds. */
export interface QueueMetrics {
  added(): void;
  taken(waitedSince: number): void;
  finished(workedSince: number): void;
  retried(): void;
  /** A waiting item was removed without having been taken. */
  dropped(): void;
}

export interface QueueMetricsOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The time at which each item in work was taken. Called only when the metrics are read. */
  readonly startTimes: () => Iterable<number>;
}

/** The workqueue metrics of Kubernetes' controllers, label `name` (COL-190; component-base `metrics/prometheus/workqueue`). */
export function queueMetrics({ name, clock, metrics, startTimes }: QueueMetricsOptions): QueueMetrics {
  const labelNames = ['name'];
  const labels = { name };
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Current depth of workqueue', labelNames });
  const adds = metrics.counter({
    name: 'workqueue_adds_total',
    help: 'Total number of adds handled by workqueue',
    labelNames,
  });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Total number of retries handled by workqueue',
    labelNames,
  });
  const queueDuration = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested.',
    labelNames,
    buckets: DURATION_BUCKETS,
  });
  const workDuration = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    labelNames,
    buckets: DURATION_BUCKETS,
  });
  const seconds = (since: number): number => Math.max(0, clock.monotonic() - since) / 1000;
  metrics.gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Seconds of work in progress that work_duration has not observed yet, summed over the items in work.',
    labelNames,
    collect(gauge) {
      let sum = 0;
      for (const since of startTimes()) sum += seconds(since);
      gauge.set(sum, labels);
    },
  });
  metrics.gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How many seconds the longest running processor of this workqueue has been running.',
    labelNames,
    collect(gauge) {
      let longest = 0;
      for (const since of startTimes()) longest = Math.max(longest, seconds(since));
      gauge.set(longest, labels);
    },
  });
  // Series exist from the start, so that a rate over them includes the first increase.
  depth.set(0, labels);
  adds.inc(labels, 0);
  retries.inc(labels, 0);
  return {
    added() {
      adds.inc(labels);
      depth.inc(labels);
    },
    taken(waitedSince) {
      depth.dec(labels);
      queueDuration.observe(seconds(waitedSince), labels);
    },
    finished(workedSince) {
      workDuration.observe(seconds(workedSince), labels);
    },
    retried() {
      retries.inc(labels);
    },
    dropped() {
      depth.dec(labels);
    },
  };
}
