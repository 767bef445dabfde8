import type {
  Gauge,
  GaugeDefinition,
  HistogramDefinition,
  Labels,
  MetricDefinition,
  Metrics,
} from '../../base/metrics/metrics.ts';
import { noMetrics } from '../../base/metrics/metrics.ts';

interface QueueState {
  /** Keys that a worker may take. */
  readonly ready: number;
  /** Keys in work. */
  readonly working: number;
}

/** Delayed keys of one queue. */
export interface DelayedKeys {
  readonly queue: string;
  /** `failed` keys are retried; `later` keys are synced again without a failure. */
  readonly reason: string;
  readonly keys: number;
  /** Milliseconds until the first of them is due. */
  readonly nextInMs: number;
}

/**
 * The activity of work queues and controller loops, read from the metrics that they report (`workqueue/metrics.ts`,
 * `lifecycle/kit/delayed-keys.ts`), so that collector and controllers need no other interface for it.
 */
export class QueueActivity implements Metrics {
  readonly #queues = new Map<string, { ready: number; working: number }>();
  readonly #delays = new Map<string, { queue: string; reason: string; keys: number; seconds: number }>();
  /** One function for each gauge of each loop. */
  readonly #collects: (() => void)[] = [];

  /** Busy queues at this moment, by name. */
  get busy(): ReadonlyMap<string, QueueState> {
    return new Map([...this.#queues].filter(([, { ready, working }]) => ready + working > 0));
  }

  get ready(): number {
    return [...this.#queues.values()].reduce((sum, { ready }) => sum + ready, 0);
  }

  /** Delayed items by queue and reason, without the collector, which reports its own state. */
  get delayed(): readonly DelayedKeys[] {
    for (const collect of this.#collects) collect();
    return [...this.#delays.values()]
      .filter(({ keys }) => keys > 0)
      .map(({ queue, reason, keys, seconds }) => ({ queue, reason, keys, nextInMs: Math.round(seconds * 1e6) / 1000 }));
  }

  counter(definition: MetricDefinition) {
    return noMetrics.counter(definition);
  }

  gauge(definition: GaugeDefinition) {
    switch (definition.name) {
      case 'workqueue_depth':
        return this.#told(definition, (labels) => this.#queue(labels), 'ready');
      case 'kubegc_lifecycle_delayed_keys':
        return this.#told(definition, (labels) => this.#delay(labels), 'keys');
      case 'kubegc_lifecycle_next_delayed_key_seconds':
        return this.#told(definition, (labels) => this.#delay(labels), 'seconds');
      default:
        return noMetrics.gauge(definition);
    }
  }

  histogram(definition: HistogramDefinition) {
    const step =
      definition.name === 'workqueue_queue_duration_seconds'
        ? 1
        : definition.name === 'workqueue_work_duration_seconds'
          ? -1
          : undefined;
    if (step === undefined) return noMetrics.histogram(definition);
    const observe = (_: number, labels?: Labels): void => void (this.#queue(labels).working += step);
    return { ...noMetrics.histogram(definition), observe };
  }

  /** A gauge whose values are stored in `field` of the record for their labels. */
  #told<F extends string>(
    { collect }: GaugeDefinition,
    record: (labels?: Labels) => Record<F, number>,
    field: F,
  ): Gauge {
    const gauge: Gauge = {
      ...noMetrics.gauge({ name: '', help: '' }),
      set: (value, labels) => void (record(labels)[field] = value),
      inc: (labels, by = 1) => void (record(labels)[field] += by),
      dec: (labels, by = 1) => void (record(labels)[field] -= by),
    };
    if (collect !== undefined) this.#collects.push(() => collect(gauge));
    return gauge;
  }

  #delay({ name: queue = '', reason = '' }: Labels = {}) {
    const id = `${queue}/${reason}`;
    let delay = this.#delays.get(id);
    if (delay === undefined) this.#delays.set(id, (delay = { queue, reason, keys: 0, seconds: 0 }));
    return delay;
  }

  #queue(labels: Labels | undefined): { ready: number; working: number } {
    const name = labels?.['name'] ?? '';
    let queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, (queue = { ready: 0, working: 0 }));
    return queue;
  }
}
