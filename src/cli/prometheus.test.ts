import { describe, expect, it } from 'vitest';
import { PrometheusMetrics } from './prometheus.ts';

describe('PrometheusMetrics', () => {
  it('COL-192 shows counters, gauges and histograms in the Prometheus text format', async () => {
    const metrics = new PrometheusMetrics();
    const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Adds', labelNames: ['name'] });
    adds.inc({ name: 'a' });
    adds.inc({ name: 'a' }, 2);
    metrics.gauge({ name: 'depth', help: 'Depth', collect: (gauge) => gauge.set(7) });
    const seconds = metrics.histogram({ name: 'seconds', help: 'Time', buckets: [0.1, 1] });
    for (const value of [0.05, 0.5, 5]) seconds.observe(value);
    const { text, contentType } = await metrics.expose();
    expect(contentType).toContain('text/plain');
    expect(text.split('\n').filter((line) => line !== '')).toEqual([
      '# HELP workqueue_adds_total Adds',
      '# TYPE workqueue_adds_total counter',
      'workqueue_adds_total{name="a"} 3',
      '# HELP depth Depth',
      '# TYPE depth gauge',
      'depth 7',
      '# HELP seconds Time',
      '# TYPE seconds histogram',
      'seconds_bucket{le="0.1"} 1',
      'seconds_bucket{le="1"} 2',
      'seconds_bucket{le="+Inf"} 3',
      'seconds_sum 5.55',
      'seconds_count 3',
    ]);
  });

  it('gives the same metric for the same name, and refuses a name with two types', () => {
    const metrics = new PrometheusMetrics();
    expect(metrics.counter({ name: 'x', help: 'X' })).toBe(metrics.counter({ name: 'x', help: 'X' }));
    expect(() => metrics.gauge({ name: 'x', help: 'X' })).toThrow('metric x is a counter, not a gauge');
  });
});
