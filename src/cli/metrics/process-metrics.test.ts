import { expect, it } from 'vitest';
import { processMetrics } from './process-metrics.ts';
import { PrometheusMetrics } from './prometheus.ts';

it('COL-192 what the process takes is read at each scrape', async () => {
  const metrics = new PrometheusMetrics();
  const spent = { user: 1_500_000, system: 500_000 };
  let bytes = 70_000_000;
  processMetrics(
    metrics,
    { cpuUsage: () => ({ ...spent }), memoryUsage: { rss: () => bytes }, uptime: () => 60 },
    1_800_000_060_000,
  );
  const scrape = async (): Promise<string[]> => {
    const { text } = await metrics.expose();
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'));
  };
  expect(await scrape()).toEqual([
    '# TYPE process_cpu_seconds_total counter',
    'process_cpu_seconds_total 2',
    '# TYPE process_resident_memory_bytes gauge',
    'process_resident_memory_bytes 70000000',
    '# TYPE process_start_time_seconds gauge',
    'process_start_time_seconds 1800000000',
  ]);
  spent.user += 250_000;
  bytes = 71_000_000;
  const again = await scrape();
  expect(again).toContain('process_cpu_seconds_total 2.25');
  expect(again).toContain('process_resident_memory_bytes 71000000');
});
