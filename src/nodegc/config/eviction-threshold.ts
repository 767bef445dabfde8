import { parseQuantity, QuantityError, quantityAsNumber } from '../../api/quantity.ts';

/** Signals that a threshold can name; only those of file systems start a reclaim here (NODE-110). */
export const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof SIGNALS)[number];

/** A share of the capacity in percent, or an amount of bytes or inodes. */
export type Threshold = { readonly percent: number } | { readonly amount: bigint };

/** `15%` or a quantity such as `10Gi`; undefined for anything else. */
export function parseThreshold(text: string): Threshold | undefined {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { percent: Number(percent) } : undefined;
  try {
    const amount = Math.ceil(quantityAsNumber(parseQuantity(text)));
    return amount < 0 ? undefined : { amount: BigInt(amount) };
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** True when less is available than the threshold asks for. A percentage is never met when the capacity is 0. */
export function thresholdMet(
  threshold: Threshold,
  have: { readonly available: bigint; readonly capacity: bigint },
): boolean {
  if ('amount' in threshold) return have.available < threshold.amount;
  return have.available * 10_000n < have.capacity * BigInt(Math.round(threshold.percent * 100));
}
