import { describe, expect, it } from 'vitest';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { collectorMetrics, forgetVanished } from './collector-metrics.ts';

describe('forgetVanished', () => {
  it('COL-191 forgets every series that names a resource which is not served, and no other', () => {
    const memory = new MemoryMetrics();
    const metrics = collectorMetrics(memory);
    const named = {
      kubegc_collector_deletions_total: { resource: 'gone', policy: 'Background' },
      kubegc_collector_patches_total: { resource: 'gone', change: 'orphan' },
      kubegc_collector_consistency_differences_total: { resource: 'gone', difference: 'missing' },
    };
    const everyOne = Object.entries(named);
    const served = (labels: { readonly resource: string }) => ({ ...labels, resource: 'pods' });
    for (const [name, labels] of everyOne) {
      const counter = memory.counter({ name, help: '' });
      counter.inc(labels);
      counter.inc(served(labels), 2);
    }
    metrics.queued.inc({ reason: 'ownerGone' });
    forgetVanished(metrics, (resource) => resource === 'pods');
    expect(everyOne.map(([name, labels]) => [memory.value(name, labels), memory.value(name, served(labels))])).toEqual(
      everyOne.map(() => [undefined, 2]),
    );
    expect(memory.value('kubegc_collector_queued_total', { reason: 'ownerGone' })).toBe(1);
  });

  it('COL-191 knows every counter that has a label for the resource', () => {
    const memory = new MemoryMetrics();
    const labelled: string[] = [];
    const metrics = collectorMetrics({
      gauge: (definition) => memory.gauge(definition),
      histogram: (definition) => memory.histogram(definition),
      counter: (definition) => {
        const counter = memory.counter(definition);
        if (definition.labelNames?.includes('resource') !== true) return counter;
        labelled.push(definition.name);
        return { ...counter, deletePartialMatch: () => void labelled.splice(labelled.indexOf(definition.name), 1) };
      },
    });
    expect(labelled).toHaveLength(3);
    forgetVanished(metrics, () => true);
    expect(labelled).toEqual([]);
  });
});
