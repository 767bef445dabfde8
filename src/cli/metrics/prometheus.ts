import type {
  Counter,
  CounterDefinition,
  Gauge,
  GaugeDefinition,
  Histogram,
  HistogramDefinition,
  LabelMatch,
  Labels,
  MetricDefinition,
  Metrics,
} from '../../base/metrics/metrics.ts';

/** Prometheus' own default bounds, in seconds. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Sample {
  readonly labels: Labels;
  value: number;
}

interface Distribution {
  readonly labels: Labels;
  /** Observations at or below each bound, not cumulative. */
  readonly counts: Float64Array;
  sum: number;
  count: number;
}

interface Exposed {
  readonly labels: Record<string, string | number>;
  readonly value: number;
  readonly metricName?: string;
}

/** A node of the tree of label values: one level for each label, with the series as leaves. */
type Level<T> = Map<string, Level<T> | T>;

/**
 * One series for each combination of labels. Callers bound their number: label values come from a closed set, or name existing things and
 * are removed with them. Series are found value by value, because a request updates some ten metrics and a joined key would be garbage each
 * time.
 */
class Series<T extends object> {
  readonly #root: Level<T> = new Map();
  readonly #all = new Set<T>();
  readonly #labelNames: readonly string[];
  readonly #make: (labels: Labels) => T;

  constructor(labelNames: readonly string[], make: (labels: Labels) => T) {
    this.#labelNames = labelNames;
    this.#make = make;
  }

  at(labels: Labels = {}): T {
    let level = this.#root;
    const last = this.#labelNames.length - 1;
    for (let i = 0; i < last; i++) {
      const value = labels[this.#labelNames[i] ?? ''] ?? '';
      let next = level.get(value) as Level<T> | undefined;
      if (next === undefined) {
        next = new Map();
        level.set(value, next);
      }
      level = next;
    }
    const value = labels[this.#labelNames[last] ?? ''] ?? '';
    let found = level.get(value) as T | undefined;
    if (found === undefined) {
      found = this.#make(Object.fromEntries(this.#labelNames.map((name) => [name, labels[name] ?? ''])));
      level.set(value, found);
      this.#all.add(found);
    }
    return found;
  }

  /** In the order of first use. */
  all(): readonly T[] {
    return [...this.#all];
  }

  /** The cost is the number of label values before the first one that is matched by value, plus the removed series. */
  deletePartialMatch(match: LabelMatch): void {
    if (Object.keys(match).every((name) => this.#labelNames.includes(name))) this.#prune(this.#root, 0, match);
  }

  #prune(level: Level<T>, depth: number, match: LabelMatch): void {
    const wanted = match[this.#labelNames[depth] ?? ''];
    for (const value of typeof wanted === 'string' ? [wanted] : level.keys()) {
      const below = level.get(value);
      if (below === undefined || (typeof wanted === 'function' && !wanted(value))) continue;
      if (depth < this.#labelNames.length - 1) {
        const next = below as Level<T>;
        this.#prune(next, depth + 1, match);
        if (next.size > 0) continue;
      } else this.#all.delete(below as T);
      level.delete(value);
    }
  }
}

class RecordedValue implements Counter, Gauge {
  readonly definition: MetricDefinition;
  readonly type: 'counter' | 'gauge';
  readonly collects: ((value: RecordedValue) => void)[] = [];
  readonly #series: Series<Sample>;

  constructor(definition: MetricDefinition, type: 'counter' | 'gauge') {
    this.definition = definition;
    this.type = type;
    this.#series = new Series(definition.labelNames ?? [], (labels) => ({ labels, value: 0 }));
    if ((definition.labelNames ?? []).length === 0) this.#series.at();
  }

  inc(labels?: Labels, by = 1): void {
    this.#series.at(labels).value += by;
  }

  dec(labels?: Labels, by = 1): void {
    this.#series.at(labels).value -= by;
  }

  set(value: number, labels?: Labels): void {
    this.#series.at(labels).value = value;
  }

  deletePartialMatch(match: LabelMatch): void {
    this.#series.deletePartialMatch(match);
  }

  values(): Exposed[] {
    for (const collect of this.collects) collect(this);
    return this.#series.all().map(({ labels, value }) => ({ labels: { ...labels }, value }));
  }
}

class RecordedHistogram implements Histogram {
  readonly definition: HistogramDefinition;
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series: Series<Distribution>;

  constructor(definition: HistogramDefinition) {
    this.definition = definition;
    this.#bounds = definition.buckets ?? defaultBuckets;
    this.#series = new Series(definition.labelNames ?? [], (labels) => ({
      labels,
      counts: new Float64Array(this.#bounds.length),
      sum: 0,
      count: 0,
    }));
  }

  observe(value: number, labels?: Labels): void {
    const distribution = this.#series.at(labels);
    distribution.sum += value;
    distribution.count += 1;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
  }

  deletePartialMatch(match: LabelMatch): void {
    this.#series.deletePartialMatch(match);
  }

  values(): Exposed[] {
    const { name } = this.definition;
    return this.#series.all().flatMap(({ labels, counts, sum, count }) => {
      let below = 0;
      const buckets = this.#bounds.map((bound, index) => {
        below += counts[index] ?? 0;
        return { labels: { ...labels, le: bound }, value: below, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` },
        { labels: { ...labels }, value: sum, metricName: `${name}_sum` },
        { labels: { ...labels }, value: count, metricName: `${name}_count` },
      ];
    });
  }
}

/**
 * Collects the numbers of all rooms and shows them in Prometheus' text format. prom-client, which writes the format, is loaded at the first
 * scrape, so that start-up does not pay for it.
 */
export class PrometheusMetrics implements Metrics {
  readonly #recorded = new Map<string, RecordedValue | RecordedHistogram>();

  counter(definition: CounterDefinition): Counter {
    return this.#value(definition, 'counter');
  }

  gauge(definition: GaugeDefinition): Gauge {
    return this.#value(definition, 'gauge');
  }

  histogram(definition: HistogramDefinition): Histogram {
    const existing = this.#recorded.get(definition.name);
    if (existing instanceof RecordedHistogram) return existing;
    if (existing) throw new TypeError(`metric ${definition.name} is a ${existing.type}, not a histogram`);
    const histogram = new RecordedHistogram(definition);
    this.#recorded.set(definition.name, histogram);
    return histogram;
  }

  /** The `/metrics` page (COL-192, API-017). */
  async expose(): Promise<{ contentType: string; text: string }> {
    const { default: prom } = await import('prom-client');
    const registry = new prom.Registry();
    for (const metric of this.#recorded.values()) {
      const { name, help } = metric.definition;
      const exposed = {
        name,
        get: async () => ({ name, help, type: metric.type, values: metric.values(), aggregator: 'sum' }),
      };
      // prom-client uses only `name` and `get()` of a registered metric, but its types require the whole class.
      registry.registerMetric(exposed as unknown as Parameters<typeof registry.registerMetric>[0]);
    }
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  #value(definition: CounterDefinition | GaugeDefinition, type: 'counter' | 'gauge'): RecordedValue {
    const value = this.#recordedAs(definition, type);
    if (definition.collect) value.collects.push(definition.collect);
    return value;
  }

  #recordedAs(definition: MetricDefinition, type: 'counter' | 'gauge'): RecordedValue {
    const existing = this.#recorded.get(definition.name);
    if (existing instanceof RecordedValue && existing.type === type) return existing;
    if (existing) throw new TypeError(`metric ${definition.name} is a ${existing.type}, not a ${type}`);
    const value = new RecordedValue(definition, type);
    this.#recorded.set(definition.name, value);
    return value;
  }
}
