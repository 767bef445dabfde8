import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readKubeconfig } from '../../test/program/read-kubeconfig.ts';
import { ACCEPT_METADATA } from '../../src/client/codec/accept.ts';
import { Load } from '../apiserver/load.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, levelOf, median } from '../result.ts';
import { CollectProcess } from './collect-process.ts';

/**
 * P04: from the start of the process `kubegc collect` to all monitors synced, over TLS, with many objects. The baseline is a process that
 * reads the same streams and parses nothing in them. `BENCH_OBJECTS=1000000` for the large row.
 */
export const run: Benchmark = async ({ smoke }) => {
  const objects = smoke ? 500 : Number(process.env['BENCH_OBJECTS'] ?? 100_000);
  const server = new ServerProcess({ args: ['--controllers', 'namespace-controller', '--store', 'memory'] });
  const directory = mkdtempSync(join(tmpdir(), 'kubegc-drain-'));
  try {
    await server.ready;
    await fill(server.kubeconfig, objects);
    const { origin, ca, authorization } = readKubeconfig(server.kubeconfig);
    const target = join(directory, 'target.json');
    const to = { origin: origin.origin, ca: ca.toString(), authorization, accept: ACCEPT_METADATA };
    writeFileSync(target, JSON.stringify(to), { mode: 0o600 });
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < (smoke ? 1 : 5); round++) {
      theirs.push(await drainSeconds(target));
      ours.push(await coldStartSeconds(server.kubeconfig, objects));
    }
    const value = median(ours);
    const baseline = median(theirs);
    return [
      {
        id: `P04 (${objects.toLocaleString('en')})`,
        workload: `kubegc collect from spawn to all monitors synced, ${objects} ConfigMaps of 1 KB stored`,
        metric: 's',
        value,
        baseline: { what: 'a process that only drains the same streams', value: baseline },
        ratio: value / baseline,
        level: levelOf(value / baseline, { good: 1.5, great: 1.15, better: 'less' }),
        demands: { good: '<= 1.5x', great: '<= 1.15x' },
      },
    ];
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
};

async function fill(kubeconfig: string, objects: number): Promise<void> {
  const load = new Load(kubeconfig, 32);
  const body = (index: number): Buffer =>
    Buffer.from(JSON.stringify({ metadata: { name: `object-${index}` }, data: { filler: 'x'.repeat(800) } }));
  await load.each(objects, (index) => load.send('POST', '/api/v1/namespaces/default/configmaps', body(index)), 201);
  load.close();
}

async function coldStartSeconds(kubeconfig: string, objects: number): Promise<number> {
  const collector = new CollectProcess(kubeconfig, ['--mode', 'observe']);
  await collector.ready;
  const seconds = (performance.now() - collector.spawnedAt) / 1000;
  const observed = await collector.metric('kubegc_collector_graph_nodes', 'state="observed"');
  const unsynced = await collector.metric('kubegc_collector_unsynced_monitors');
  await collector.stop();
  if (unsynced > 0 || observed < objects) throw new Error(`${observed} observed, ${unsynced} monitors not synced`);
  return seconds;
}

function drainSeconds(target: string): Promise<number> {
  const script = fileURLToPath(new URL('drain.mjs', import.meta.url));
  const started = performance.now();
  const child = spawn(process.execPath, [script, target], { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((settle, reject) => {
    child.once('exit', (code) =>
      code === 0 ? settle((performance.now() - started) / 1000) : reject(new Error(`the drain ended with ${code}`)),
    );
  });
}
