import type { Metrics } from '../../base/metrics/metrics.ts';

/** The statistics that a process has about itself, like Node's `process`. */
export interface MeteredProcess {
  /** Microseconds since its start. */
  cpuUsage(): { readonly user: number; readonly system: number };
  readonly memoryUsage: { rss(): number };
  /** Seconds. */
  uptime(): number;
}

/**
 * The resources of this process, under the metric names of Prometheus' client libraries, which dashboards of Kubernetes' components use.
 * `now` is in ms since 1970.
 */
export function processMetrics(metrics: Metrics, { cpuUsage, memoryUsage, uptime }: MeteredProcess, now: number): void {
  let countedSeconds = 0;
  metrics.counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process, of the user and of the system.',
    collect: (counter) => {
      const { user, system } = cpuUsage();
      const seconds = (user + system) / 1e6;
      counter.inc(undefined, seconds - countedSeconds);
      countedSeconds = seconds;
    },
  });
  metrics.gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of this process that is not swapped out.',
    collect: (gauge) => gauge.set(memoryUsage.rss()),
  });
  metrics
    .gauge({ name: 'process_start_time_seconds', help: 'When this process began, in seconds since 1970.' })
    .set(now / 1000 - uptime());
}
