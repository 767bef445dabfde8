interface SlowStartOutcome {
  readonly successes: number;
  /** The first failure of the last batch. */
  readonly failure: unknown;
}

/**
 * Calls `create` up to `count` times in batches of 1, 2, 4, … (LIFE-010). After a failure it stops with the current batch, so a refused
 * template costs one call per sync instead of `count`.
 */
export async function slowStart(count: number, create: (index: number) => Promise<void>): Promise<SlowStartOutcome> {
  let successes = 0;
  let next = 0;
  for (let size = 1; next < count; size *= 2) {
    const batch = Math.min(size, count - next);
    const first = next;
    const outcomes = await Promise.allSettled(Array.from({ length: batch }, (_, offset) => create(first + offset)));
    next += batch;
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    successes += batch - failed.length;
    if (failed.length > 0) return { successes, failure: failed[0]!.reason };
  }
  return { successes, failure: undefined };
}
