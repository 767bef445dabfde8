/** The result of one benchmark: our figure, the baseline's of the same run, and which level of the table that is. */
export interface BenchResult {
  /** `P03`, or `P01 (554 B)` where a benchmark has several rows. */
  readonly id: string;
  readonly workload: string;
  /** The measured quantity, with its unit: `B RSS/object`, `creates/s`. */
  readonly metric: string;
  readonly value: number;
  readonly baseline: { readonly what: string; readonly value: number };
  /** How much better (above 1) or worse we are than the baseline, in the direction that counts for the metric. */
  readonly ratio: number;
  readonly level: Level;
  /** The demands of good and great, in the words of the table. */
  readonly demands: { readonly good: string; readonly great: string };
}

export type Level = 'great' | 'good' | 'below';

export interface BenchOptions {
  /** A small run that proves that the benchmark works and is correct; its figures mean nothing. */
  readonly smoke: boolean;
}

export type Benchmark = (options: BenchOptions) => Promise<readonly BenchResult[]>;

/** `more` for throughput, where greater is better; `less` for bytes and milliseconds. */
export function levelOf(value: number, demands: { good: number; great: number; better: 'more' | 'less' }): Level {
  const reaches = (demand: number): boolean => (demands.better === 'more' ? value >= demand : value <= demand);
  return reaches(demands.great) ? 'great' : reaches(demands.good) ? 'good' : 'below';
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
