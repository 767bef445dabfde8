import type { GaugeDefinition, HistogramDefinition, Labels, MetricDefinition, Metrics } from '../base/metrics.ts';
import { noMetrics } from '../base/metrics.ts';

interface QueueState {
  /** Keys that a worker may take. */
  readonly ready: number;
  /** Keys that a worker has taken and not finished. */
  readonly working: number;
}

/**
 * How busy the work queues are, read from the metrics that every queue reports (`workqueue/metrics.ts`): the collector and
 * the controllers need no other door for it.
 */
export class QueueActivity implements Metrics {
  readonly #queues = new Map<string, { ready: number; working: number }>();

  /** Queues with something to do at this moment, by name. */
  get busy(): ReadonlyMap<string, QueueState> {
    return new Map([...this.#queues].filter(([, { ready, working }]) => ready + working > 0));
  }

  get ready(): number {
    return [...this.#queues.values()].reduce((sum, { ready }) => sum + ready, 0);
  }

  counter(definition: MetricDefinition) {
    return noMetrics.counter(definition);
  }

  gauge(definition: GaugeDefinition) {
    if (definition.name !== 'workqueue_depth') return noMetrics.gauge(definition);
    return {
      set: (value: number, labels?: Labels) => void (this.#queue(labels).ready = value),
      inc: (labels?: Labels, by = 1) => void (this.#queue(labels).ready += by),
      dec: (labels?: Labels, by = 1) => void (this.#queue(labels).ready -= by),
    };
  }

  histogram(definition: HistogramDefinition) {
    const step =
      definition.name === 'workqueue_queue_duration_seconds'
        ? 1
        : definition.name === 'workqueue_work_duration_seconds'
          ? -1
          : undefined;
    if (step === undefined) return noMetrics.histogram(definition);
    return { observe: (_: number, labels?: Labels) => void (this.#queue(labels).working += step) };
  }

  #queue(labels: Labels | undefined): { ready: number; working: number } {
    const name = labels?.['name'] ?? '';
    let queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, (queue = { ready: 0, working: 0 }));
    return queue;
  }
}
