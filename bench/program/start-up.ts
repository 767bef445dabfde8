import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { rmSync } from 'node:fs';
import { ApiClient } from '../../test/program/api-client.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { ServerProcess } from './server-process.ts';

/** P13: from spawn to the first 200 on a namespace, over TLS with a certificate made at start; then with objects stored. */
const namespace = '/api/v1/namespaces/default';

async function kubegcMs(directory?: string): Promise<{ ms: number; directory: string }> {
  const server = new ServerProcess(directory === undefined ? {} : { directory });
  await server.ready;
  const client = new ApiClient(server.kubeconfig);
  const { status } = await client.send('GET', namespace);
  const ms = performance.now() - server.spawnedAt;
  client.close();
  if (status !== 200) throw new Error(`GET ${namespace} answered ${status}`);
  await server.stop(true);
  return { ms, directory: server.directory };
}

const plainServer = `
require('node:http').createServer((q, a) => a.end('{}')).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

async function plainMs(): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ['-e', plainServer], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  await new Promise((settle, reject) =>
    get({ port, host: '127.0.0.1', agent: false }, (answer) => answer.resume().once('end', settle)).once(
      'error',
      reject,
    ),
  );
  const ms = performance.now() - started;
  child.kill();
  return ms;
}

async function fill(directory: string, objects: number): Promise<void> {
  const server = new ServerProcess({ directory });
  await server.ready;
  const client = new ApiClient(server.kubeconfig);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < objects) {
      const name = `object-${next++}`;
      const { status } = await client.send('POST', `${namespace}/configmaps`, {
        metadata: { name },
        data: { filler: 'x'.repeat(800) },
      });
      if (status !== 201) throw new Error(`create answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  client.close();
  await server.stop(true);
}

export const run: Benchmark = async ({ smoke }) => {
  const rounds = smoke ? 2 : 9;
  const ours: number[] = [];
  const plain: number[] = [];
  let directory = '';
  for (let round = 0; round < rounds; round++) {
    plain.push(await plainMs());
    const measured = await kubegcMs();
    ours.push(measured.ms);
    if (round < rounds - 1) rmSync(measured.directory, { recursive: true, force: true });
    else directory = measured.directory;
  }
  const baseline = { what: 'a one-file node:http server', value: median(plain) };
  const empty = median(ours);
  const results: BenchResult[] = [
    {
      id: 'P13 (empty)',
      workload: `spawn to first 200, empty store, ${rounds} rounds`,
      metric: 'ms to the first 200',
      value: empty,
      baseline,
      ratio: empty / baseline.value,
      level: levelOf(empty / baseline.value, { good: 5, great: 3, better: 'less' }),
      demands: { good: '<= 5x', great: '<= 3x' },
    },
  ];
  const objects = smoke ? 500 : 100_000;
  await fill(directory, objects);
  const full: number[] = [];
  for (let round = 0; round < (smoke ? 1 : 5); round++) full.push((await kubegcMs(directory)).ms);
  rmSync(directory, { recursive: true, force: true });
  const filled = median(full);
  results.push({
    id: 'P13 (100k)',
    workload: `spawn to first 200 with ${objects} ConfigMaps of 1 KB stored`,
    metric: 'ms to the first 200',
    value: filled,
    baseline,
    ratio: filled / baseline.value,
    level: levelOf(filled, { good: 1000, great: 400, better: 'less' }),
    demands: { good: '<= 1000 ms', great: '<= 400 ms' },
  });
  return results;
};
