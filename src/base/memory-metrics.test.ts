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
});
