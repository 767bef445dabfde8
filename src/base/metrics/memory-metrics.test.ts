import { describe, expect, it } from 'vitest';
import { MemoryMetrics } from './memory-metrics.ts';

describe('MemoryMetrics', () => {
  it('keeps series apart by labels, whatever their order', () => {
    const metrics = new MemoryMetrics();
    const counter = metrics.counter({ name: 'c', help: 'h', labelNames: ['a', 'b'] });
    counter.inc({ a: '1', b: '2' });
    counter.inc({ b: '2', a: '1' }, 2);
    counter.inc({ a: '1', b: '3' });
    expect(metrics.value('c', { a: '1', b: '2' })).toBe(3);
    expect(metrics.value('c', { a: '1', b: '3' })).toBe(1);
    expect(metrics.value('c')).toBeUndefined();
  });

  it('calls every collector of a gauge when it is read', () => {
    const metrics = new MemoryMetrics();
    metrics.gauge({ name: 'g', help: 'h', collect: (g) => g.set(1, { name: 'x' }) });
    metrics.gauge({ name: 'g', help: 'h', collect: (g) => g.set(2, { name: 'y' }) }).inc({ name: 'z' }, 5);
    expect(['x', 'y', 'z'].map((name) => metrics.value('g', { name }))).toEqual([1, 2, 5]);
  });

  it('counts and sums what a histogram sees', () => {
    const metrics = new MemoryMetrics();
    const histogram = metrics.histogram({ name: 'h', help: 'h' });
    histogram.observe(1);
    histogram.observe(2.5);
    expect(metrics.observations('h')).toEqual({ count: 2, sum: 3.5 });
    expect(metrics.observations('other')).toEqual({ count: 0, sum: 0 });
  });

  it('forgets what matches, in counters, gauges and histograms', () => {
    const metrics = new MemoryMetrics();
    const labelNames = ['a', 'b'];
    const all = [
      metrics.counter({ name: 'c', help: 'h', labelNames }),
      metrics.gauge({ name: 'g', help: 'h', labelNames }),
      metrics.histogram({ name: 'h', help: 'h', labelNames }),
    ] as const;
    const [counter, gauge, histogram] = all;
    const told = [
      { a: '1', b: '1' },
      { a: '1', b: '2' },
      { a: '2', b: '1' },
    ];
    for (const labels of told) {
      counter.inc(labels);
      gauge.set(1, labels);
      histogram.observe(1, labels);
    }
    const left = () =>
      told.map((labels) => [
        metrics.value('c', labels),
        metrics.value('g', labels),
        metrics.observations('h', labels).count,
      ]);
    for (const metric of all) metric.deletePartialMatch({ a: '1', b: (value) => value !== '2' });
    expect(left()).toEqual([
      [undefined, undefined, 0],
      [1, 1, 1],
      [1, 1, 1],
    ]);
    for (const metric of all) metric.deletePartialMatch({ other: '1' });
    expect(left()[1]).toEqual([1, 1, 1]);
  });
});
