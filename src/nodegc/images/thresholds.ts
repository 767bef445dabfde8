/** The arithmetic of the thresholds, all in integers (NODE-065). */

export interface DiskReading {
  /** Bytes; undefined where the file system did not report it. */
  readonly capacity: bigint | undefined;
  readonly available: bigint | undefined;
  /** 0 on file systems that create inodes when they need them. */
  readonly inodes: bigint;
  readonly inodesFree: bigint;
}

export interface Percentages {
  readonly high: number;
  readonly low: number;
}

export type ThresholdDecision =
  | { readonly decision: 'invalidCapacity'; readonly message: string }
  | { readonly decision: 'below'; readonly usagePercent: number }
  | { readonly decision: 'due'; readonly usagePercent: number; readonly goal: bigint };

const HUNDRED = 100n;

/** Decides whether the disk is so full that the space pass is due, and how much the pass has to free. */
export function decideByThreshold(
  reading: { readonly capacity: bigint | undefined; readonly available: bigint | undefined },
  { high, low }: Percentages,
): ThresholdDecision {
  const capacity = reading.capacity ?? 0n;
  const given = reading.available ?? 0n;
  const available = given > capacity ? capacity : given;
  if (capacity === 0n) return { decision: 'invalidCapacity', message: 'invalid capacity 0 on image filesystem' };
  const usagePercent = Number(HUNDRED - (available * HUNDRED) / capacity);
  if (usagePercent < high) return { decision: 'below', usagePercent };
  return { decision: 'due', usagePercent, goal: (capacity * BigInt(100 - low)) / HUNDRED - available };
}

/** Formats a capacity as the kubelet prints it: `97.7 KiB`, `512 B`. */
export function formatCapacity(bytes: bigint): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024n) return `${bytes} B`;
  let value = Number(bytes);
  let unit = '';
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return `${value.toFixed(1)} ${unit}`;
}
