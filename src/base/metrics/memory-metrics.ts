import type { GaugeDefinition, HistogramDefinition, LabelMatch, Labels, MetricDefinition, Metrics } from './metrics.ts';

/** The observations of a histogram under one set of labels. */
export interface Observations {
  readonly count: number;
  readonly sum: number;
}

function keyOf(labels: Labels | undefined): string {
  return JSON.stringify(Object.entries(labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Readable metrics, for tests and for `kubegc` itself. Bound: one number for each metric and set of labels until it is removed. */
export class MemoryMetrics implements Metrics {
  readonly #definitions = new Map<string, MetricDefinition>();
  readonly #values = new Map<string, Map<string, number>>();
  readonly #observations = new Map<string, Map<string, Observations>>();
  readonly #collectors: (() => void)[] = [];

  counter(definition: MetricDefinition) {
    const series = this.#series(definition);
    return {
      inc: (labels?: Labels, by = 1) => add(series, labels, by),
      deletePartialMatch: (match: LabelMatch) => deletePartialMatch(series, match),
    };
  }

  gauge(definition: GaugeDefinition) {
    const series = this.#series(definition);
    const gauge = {
      set: (value: number, labels?: Labels) => void series.set(keyOf(labels), value),
      inc: (labels?: Labels, by = 1) => add(series, labels, by),
      dec: (labels?: Labels, by = 1) => add(series, labels, -by),
      deletePartialMatch: (match: LabelMatch) => deletePartialMatch(series, match),
    };
    if (definition.collect !== undefined) {
      const { collect } = definition;
      this.#collectors.push(() => collect(gauge));
    }
    return gauge;
  }

  histogram(definition: HistogramDefinition) {
    this.#definitions.set(definition.name, definition);
    const series = this.#observations.get(definition.name) ?? new Map<string, Observations>();
    this.#observations.set(definition.name, series);
    return {
      observe: (value: number, labels?: Labels) => {
        const key = keyOf(labels);
        const { count, sum } = series.get(key) ?? { count: 0, sum: 0 };
        series.set(key, { count: count + 1, sum: sum + value });
      },
      deletePartialMatch: (match: LabelMatch) => deletePartialMatch(series, match),
    };
  }

  /** The value of a counter or gauge; undefined if it was never set with these labels. */
  value(name: string, labels?: Labels): number | undefined {
    for (const collect of this.#collectors) collect();
    return this.#values.get(name)?.get(keyOf(labels));
  }

  /** The sets of labels with which a counter or gauge was set. */
  labels(name: string): Labels[] {
    return [...(this.#values.get(name)?.keys() ?? [])].map(
      (key) => Object.fromEntries(JSON.parse(key) as [string, string][]) as Labels,
    );
  }

  observations(name: string, labels?: Labels): Observations {
    return this.#observations.get(name)?.get(keyOf(labels)) ?? { count: 0, sum: 0 };
  }

  definition(name: string): MetricDefinition | undefined {
    return this.#definitions.get(name);
  }

  get names(): string[] {
    return [...this.#definitions.keys()];
  }

  #series(definition: MetricDefinition): Map<string, number> {
    this.#definitions.set(definition.name, definition);
    const series = this.#values.get(definition.name) ?? new Map<string, number>();
    this.#values.set(definition.name, series);
    return series;
  }
}

function add(series: Map<string, number>, labels: Labels | undefined, by: number): void {
  const key = keyOf(labels);
  series.set(key, (series.get(key) ?? 0) + by);
}

function deletePartialMatch(series: Map<string, unknown>, match: LabelMatch): void {
  for (const key of series.keys()) {
    const labels = new Map(JSON.parse(key) as [string, string][]);
    const matches = Object.entries(match).every(([name, wanted]) => {
      const value = labels.get(name);
      if (value === undefined) return false;
      return typeof wanted === 'string' ? value === wanted : wanted(value);
    });
    if (matches) series.delete(key);
  }
}
