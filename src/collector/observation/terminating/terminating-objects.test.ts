import { expect, it } from 'vitest';
import { MemoryMetrics } from '../../../base/metrics/memory-metrics.ts';
import { HOLDERS } from './holder.ts';
import { terminatingGauges } from './terminating-objects.ts';

it('BETTER-21 one scrape of all gauges walks the graph once, and the next scrape walks it again', async () => {
  let walks = 0;
  const metrics = new MemoryMetrics();
  terminatingGauges(metrics, {
    summary: () => {
      const count = ++walks;
      return {
        byHolder: new Map(HOLDERS.map((holder) => [holder, { count, oldestMs: 1000 * count }])),
        waitingOwners: { count, oldestMs: 1000 * count },
      };
    },
  });
  const scrape = () => [
    metrics.value('kubegc_collector_waiting_owners'),
    metrics.value('kubegc_collector_oldest_waiting_owner_seconds'),
    metrics.value('kubegc_collector_terminating_objects', { held_by: 'finalizers' }),
    metrics.value('kubegc_collector_oldest_terminating_object_seconds', { held_by: 'gracePeriod' }),
  ];
  expect([scrape(), walks]).toEqual([[1, 1, 1, 1], 1]);
  await Promise.resolve();
  expect([scrape(), walks]).toEqual([[2, 2, 2, 2], 2]);
});
