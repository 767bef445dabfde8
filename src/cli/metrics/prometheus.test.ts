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

  it('COL-192 shows a forgotten series no more, and begins anew when it is recorded again', async () => {
    const metrics = new PrometheusMetrics();
    const labelNames = ['verb', 'group', 'resource'];
    const requests = metrics.counter({ name: 'requests', help: 'R', labelNames });
    const seconds = metrics.histogram({ name: 'seconds', help: 'S', labelNames, buckets: [1] });
    const objects = metrics.gauge({ name: 'objects', help: 'O', labelNames: ['resource'] });
    for (const verb of ['GET', 'PUT']) {
      for (const [group, resource] of [
        ['a.io', 'x'],
        ['a.io', 'y'],
        ['b.io', 'x'],
      ] as const) {
        requests.inc({ verb, group, resource }, 7);
        seconds.observe(0.5, { verb, group, resource });
        objects.set(3, { resource });
      }
    }
    const shown = async () =>
      (await metrics.expose()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const metric of [requests, seconds]) metric.deletePartialMatch({ group: 'a.io', resource: 'x' });
    objects.deletePartialMatch({ resource: (name) => name !== 'x' });
    const left = await shown();
    expect(left.filter((line) => line.startsWith('requests'))).toEqual([
      'requests{verb="GET",group="a.io",resource="y"} 7',
      'requests{verb="GET",group="b.io",resource="x"} 7',
      'requests{verb="PUT",group="a.io",resource="y"} 7',
      'requests{verb="PUT",group="b.io",resource="x"} 7',
    ]);
    expect(left.filter((line) => line.startsWith('seconds') && line.includes('a.io",resource="x'))).toEqual([]);
    expect(left.filter((line) => line.startsWith('seconds_count'))).toHaveLength(4);
    expect(left.filter((line) => line.startsWith('objects'))).toEqual(['objects{resource="x"} 3']);

    requests.inc({ verb: 'GET', group: 'a.io', resource: 'x' });
    expect(await shown()).toContain('requests{verb="GET",group="a.io",resource="x"} 1');
    requests.deletePartialMatch({ name: 'no such label' });
    requests.deletePartialMatch({ verb: 'no such value', group: 'b.io' });
    expect((await shown()).filter((line) => line.startsWith('requests'))).toHaveLength(5);
    requests.deletePartialMatch({});
    expect((await shown()).filter((line) => line.startsWith('requests'))).toEqual([]);
  });

  it('gives the same metric for the same name, and refuses a name with two types', () => {
    const metrics = new PrometheusMetrics();
    expect(metrics.counter({ name: 'x', help: 'X' })).toBe(metrics.counter({ name: 'x', help: 'X' }));
    expect(() => metrics.gauge({ name: 'x', help: 'X' })).toThrow('metric x is a counter, not a gauge');
  });
});
