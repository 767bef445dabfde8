import type { CollectProcess } from './collect-process.ts';

/** The environment of a collector that gives back what it does not need, as docs/collect.md recommends for one that runs for long. */
export const GIVES_BACK = {
  NODE_OPTIONS: '--max-semi-space-size=2',
  LD_PRELOAD: 'libjemalloc.so.2',
  MALLOC_CONF: 'narenas:1,tcache:false,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true',
};

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

/** Its resident memory, in bytes, four times a second. */
export async function residentDuring(collector: CollectProcess, ms: number): Promise<number[]> {
  const samples: number[] = [];
  const until = performance.now() + ms;
  do {
    samples.push(collector.residentBytes);
    await new Promise((next) => {
      setTimeout(next, 250);
    });
  } while (performance.now() < until);
  return samples;
}

/** The least in that time, bytes. */
export async function residentAtRest(collector: CollectProcess, ms: number): Promise<number> {
  return Math.min(...(await residentDuring(collector, ms)));
}
