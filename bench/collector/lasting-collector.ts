import { ServerProcess } from '../program/server-process.ts';
import { type BenchResult, levelOf } from '../result.ts';
import { CollectProcess } from './collect-process.ts';

/** The measured facts of a collector that runs for long (P19): its memory at rest, and its handles. */

/** It returns free memory to the system, as docs/collect.md recommends. */
const GIVES_BACK = {
  NODE_OPTIONS: '--max-semi-space-size=2',
  LD_PRELOAD: 'libjemalloc.so.2',
  MALLOC_CONF: 'narenas:1,tcache:false,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true',
};
const MOST_HANDLES_MORE = 5;

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/**
 * A collector that is ready beside a server with none of its own; both end with the work. In a smoke run nothing is said of memory, so that
 * it needs no allocator but the system's.
 */
export async function withLastingCollector<T>(
  { smoke }: { readonly smoke: boolean },
  work: (collector: CollectProcess, kubeconfig: string) => Promise<T>,
): Promise<T> {
  const server = new ServerProcess({ args: ['--controllers', 'namespace-controller', '--store', 'memory'] });
  await server.ready;
  const { kubeconfig } = server;
  const collector = new CollectProcess(kubeconfig, ['--mode', 'collect'], { env: smoke ? {} : GIVES_BACK });
  try {
    await collector.ready;
    if (!smoke && !collector.hasMapped('libjemalloc')) {
      throw new Error(
        'P19 is measured with jemalloc, as docs/collect.md recommends: install it (Debian: libjemalloc2)',
      );
    }
    return await work(collector, kubeconfig);
  } finally {
    await collector.stop();
    await server.stop();
  }
}

/** Its resident memory, in bytes, four times a second. */
export async function residentDuring(collector: CollectProcess, ms: number): Promise<number[]> {
  const samples: number[] = [];
  const until = performance.now() + ms;
  do {
    samples.push(collector.residentBytes);
    await pause(250);
  } while (performance.now() < until);
  return samples;
}

/** The least in that time, bytes. */
export async function residentAtRest(collector: CollectProcess, ms: number): Promise<number> {
  return Math.min(...(await residentDuring(collector, ms)));
}

/**
 * Returns how many more handles there are than before. Idle connections are kept for a while, so it waits until they are closed, and throws
 * if they stay open.
 */
export async function handlesMore(collector: CollectProcess, before: number): Promise<number> {
  let more = Number.NaN;
  for (let tries = 0; tries < 180; tries++) {
    more = collector.openHandles - before;
    if (more <= MOST_HANDLES_MORE) return more;
    await pause(500);
  }
  throw new Error(`${more} handles more than at the beginning`);
}

/** The row of a run that began, once everything was there, with `first` bytes at rest and ended with `last`. */
export function driftRow(
  row: Pick<BenchResult, 'id' | 'workload'> & { readonly told: string },
  { since, first, last }: { readonly since: string; readonly first: number; readonly last: number },
): BenchResult {
  const { id, workload, told } = row;
  const drift = ((last - first) / first) * 100;
  return {
    id,
    workload,
    metric: `% drift of resident memory at rest, ${told}`,
    value: drift,
    baseline: { what: `MiB after the first ${since}`, value: first / 2 ** 20 },
    ratio: last / first,
    level: levelOf(drift, { good: 5, great: 1, better: 'less' }),
    demands: { good: '< 5 %', great: '< 1 %, 0 lost' },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
