/** Label values by label name; every name of the definition's `labelNames` must be given. */
export type Labels = Readonly<Record<string, string>>;

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

export interface CounterDefinition extends MetricDefinition {
  /** Called when the metric is read, to add numbers that another part keeps. */
  readonly collect?: (counter: Counter) => void;
}

export interface GaugeDefinition extends MetricDefinition {
  /** Called when the metric is read, to set values that are expensive to keep current. */
  readonly collect?: (gauge: Gauge) => void;
}

export interface HistogramDefinition extends MetricDefinition {
  /** Upper bounds, ascending, in the unit the name ends with. */
  readonly buckets?: readonly number[];
}

/** Selects series by label name: a value, or a predicate of the value. A label that is not named may have any value. */
export type LabelMatch = Readonly<Record<string, string | ((value: string) => boolean)>>;

/** A metric with one series for each combination of labels that was recorded. */
interface Labelled {
  /**
   * Removes the matching series, like client_golang's DeletePartialMatch, for labels that name things that no longer exist. A series that
   * is recorded again begins at 0, which Prometheus treats as a restart. A label that the metric does not have matches nothing.
   */
  deletePartialMatch(match: LabelMatch): void;
}

export interface Counter extends Labelled {
  inc(labels?: Labels, by?: number): void;
}

export interface Gauge extends Labelled {
  set(value: number, labels?: Labels): void;
  inc(labels?: Labels, by?: number): void;
  dec(labels?: Labels, by?: number): void;
}

export interface Histogram extends Labelled {
  observe(value: number, labels?: Labels): void;
}

/**
 * The interface to which rooms report numbers; `cli` binds it to a registry. Two requests for the same name return the same metric, and
 * each of their `collect` functions is called.
 */
export interface Metrics {
  /** A number that grows. */
  counter(definition: CounterDefinition): Counter;
  /** A number that goes up and down. */
  gauge(definition: GaugeDefinition): Gauge;
  /** The distribution of values. */
  histogram(definition: HistogramDefinition): Histogram;
}

function drop(): void {}
const nothing = { inc: drop, dec: drop, set: drop, observe: drop, deletePartialMatch: drop };

/** Metrics that count nothing. */
export const noMetrics: Metrics = { counter: () => nothing, gauge: () => nothing, histogram: () => nothing };
