import type { Gauge, Metrics } from '../../base/metrics/metrics.ts';
import type { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';

/** `failed` counts keys whose last sync failed and that will be retried; `later` counts keys that are due again without a failure. */
const REASONS = ['failed', 'later'] as const;

interface Delay {
  keys: number;
  /** Milliseconds until the first of them is due; 0 if there are none. */
  nextInMs: number;
}

/** Reports which keys of a queue are delayed. It walks them only when metrics are read. */
export function reportDelayedKeys(queue: RateLimitingQueue<string>, metrics: Metrics): void {
  const labelNames = ['name', 'reason'];
  const show = (gauge: Gauge, valueOf: (delay: Delay) => number): void => {
    const delays = delaysOf(queue);
    for (const reason of REASONS) gauge.set(valueOf(delays[reason]), { name: queue.name, reason });
  };
  metrics.gauge({
    name: 'kubegc_lifecycle_delayed_keys',
    help: 'Keys that wait for their next try, as they failed, or for another look, by queue.',
    labelNames,
    collect: (gauge) => show(gauge, ({ keys }) => keys),
  });
  metrics.gauge({
    name: 'kubegc_lifecycle_next_delayed_key_seconds',
    help: 'In how many seconds the first of them is due; 0 when there are none.',
    labelNames,
    collect: (gauge) => show(gauge, ({ nextInMs }) => nextInMs / 1000),
  });
}

function delaysOf(queue: RateLimitingQueue<string>): Record<(typeof REASONS)[number], Delay> {
  const delays = { failed: { keys: 0, nextInMs: 0 }, later: { keys: 0, nextInMs: 0 } };
  for (const { item, inMs } of queue.delays()) {
    const delay = queue.numRequeues(item) > 0 ? delays.failed : delays.later;
    delay.nextInMs = delay.keys === 0 ? inMs : Math.min(delay.nextInMs, inMs);
    delay.keys++;
  }
  return delays;
}
