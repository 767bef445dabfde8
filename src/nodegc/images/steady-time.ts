import type { Clock } from '../../base/clock.ts';

const NANOSECONDS_PER_MS = 1_000_000n;

/** Nanoseconds since the epoch that go on evenly from when this was made, however the machine's clock is set meanwhile. */
export function steadyTime(clock: Clock): () => bigint {
  const wall = clock.now();
  const start = clock.monotonic();
  return () => BigInt(Math.trunc(wall + (clock.monotonic() - start))) * NANOSECONDS_PER_MS;
}
