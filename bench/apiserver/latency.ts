import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';
import { Load } from './load.ts';

/**
 * P09: how long a durable write takes when the machine is not full: as many a second as 30 % of what closed loops reach, sent on
 * schedule whether or not the last ones were answered, and timed from the moment each was due. The baseline is a flush of one
 * page to the same disk, ten a second during the same minute.
 */
const path = '/api/v1/namespaces/default/configmaps';
const sync = promisify(fdatasync);

const body = (name: string): Buffer =>
  Buffer.from(
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { filler: 'x'.repeat(800) } }),
  );

class DiskProbe {
  readonly samples: number[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), 'kubegc-sync-'));
  readonly #file = openSync(join(this.#directory, 'page'), 'w');
  readonly #timer = setInterval(() => void this.#probe(), 100);

  async #probe(): Promise<void> {
    writeSync(this.#file, Buffer.alloc(4096, 1));
    const started = performance.now();
    await sync(this.#file);
    this.samples.push(performance.now() - started);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await sync(this.#file);
    closeSync(this.#file);
    rmSync(this.#directory, { recursive: true });
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

async function openLoop(
  perSecond: number,
  seconds: number,
  send: (index: number) => Promise<number>,
): Promise<number[]> {
  const latencies: number[] = [];
  const underWay: Promise<void>[] = [];
  const started = performance.now();
  const count = Math.floor(perSecond * seconds);
  for (let sent = 0; sent < count;) {
    for (; sent < count; sent++) {
      const due = started + (sent / perSecond) * 1000;
      if (due > performance.now()) break;
      underWay.push(
        send(sent).then((status) => {
          if (status !== 201) throw new Error(`a create answered ${status}`);
          latencies.push(performance.now() - due);
        }),
      );
    }
    await new Promise((settle) => setTimeout(settle, 1));
  }
  await Promise.all(underWay);
  return latencies;
}

export const run: Benchmark = async ({ smoke }) => {
  const server = new ServerProcess();
  await server.ready;
  const load = new Load(server.kubeconfig, 64);
  const results: BenchResult[] = [];
  try {
    const count = smoke ? 200 : 20_000;
    const full = count / (await load.each(count, (index) => load.send('POST', path, body(`full-${index}`)), 201));
    const perSecond = Math.floor(full * 0.3);
    const disk = new DiskProbe();
    const latencies = await openLoop(perSecond, smoke ? 1 : 60, (index) =>
      load.send('POST', path, body(`open-${index}`)),
    );
    await disk.stop();
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((part) => quantile(latencies, part).toFixed(2));
    const value = quantile(latencies, 0.99);
    const syncP99 = quantile(disk.samples, 0.99);
    results.push({
      id: 'P09',
      workload: `${perSecond} durable creates/s on schedule`,
      metric: `ms p99 of ${perSecond} creates/s (p50 ${p50}, p99 ${p99}, p99.9 ${p999}; flush p50 ${quantile(disk.samples, 0.5).toFixed(2)})`,
      value,
      baseline: { what: 'p99 of a flush of one page', value: syncP99 },
      ratio: value / syncP99,
      level: levelOf(value, { good: 10, great: syncP99 + 3, better: 'less' }),
      demands: { good: '<= 10 ms', great: `<= ${(syncP99 + 3).toFixed(1)} ms` },
    });
  } finally {
    load.close();
    await server.stop();
  }
  return results;
};
