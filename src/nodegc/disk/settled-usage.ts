import { type Clock, sleep } from '../../base/time/clock.ts';
import type { DiskReading } from '../images/thresholds.ts';

/**
 * The file system may show freed space only after the removal is answered (NODE-074). These set how many equal samples count as settled,
 * and how long to wait.
 */
const SAMPLES = 3;
const PAUSE_MS = 20;
const PAUSE_CAP_MS = 1_000;
const BOUND_MS = 30_000;

/** Reads the usage until three samples in a row are equal, or 30 s have passed. */
export async function settledUsage(
  read: () => Promise<DiskReading | undefined>,
  clock: Clock,
): Promise<DiskReading | undefined> {
  const until = clock.monotonic() + BOUND_MS;
  let last = await read();
  let equal = 1;
  for (let pause = PAUSE_MS; equal < SAMPLES && clock.monotonic() < until;) {
    await sleep(clock, pause);
    const next = await read();
    if (next?.available === last?.available && next?.inodesFree === last?.inodesFree) equal++;
    else {
      equal = 1;
      pause = Math.min(pause * 2, PAUSE_CAP_MS);
    }
    last = next;
  }
  return last;
}
