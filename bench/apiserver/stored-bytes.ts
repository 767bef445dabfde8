import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';
import { Load } from './load.ts';
import { createPods, podBody, podsPath } from './pods.ts';

/**
 * P15: memory for each stored Pod of 5 KB, as a multiple of its JSON bytes, against a process that keeps one Buffer an object.
 * One row counts all resident pages, the other leaves out the pages of files, which the kernel takes back when it needs them.
 */
const MiB = 1024 * 1024;

const holder = `
const [count, size] = process.argv.slice(1).map(Number);
const kept = [];
const start = process.memoryUsage().rss;
for (let i = 0; i < count; i++) kept.push(Buffer.allocUnsafeSlow(size).fill(i));
console.log(process.memoryUsage().rss - start);
setInterval(() => kept.length, 1000);
`;

async function bufferBytes(count: number, size: number): Promise<number> {
  const child = spawn(process.execPath, ['-e', holder, String(count), String(size)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const grown = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  child.kill();
  return grown;
}

interface Resident {
  readonly all: number;
  readonly withoutFiles: number;
}

function resident(pid: number | undefined): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { all: field('VmRSS'), withoutFiles: field('RssAnon') };
}

export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 500 : 100_000;
  const results: BenchResult[] = [];
  for (const store of ['file', 'memory']) {
    const server = new ServerProcess({ args: ['--store', store] });
    await server.ready;
    const load = new Load(server.kubeconfig, 32);
    try {
      const size = 5 * 1024;
      const overhead = await servedSize(load, 0);
      const before = resident(server.child.pid);
      await createPods(load, count, size - overhead);
      const json = await servedSize(load, 1);
      // Waits until the engine has collected the garbage of the writes, because that is not part of an object's cost.
      await new Promise((settle) => setTimeout(settle, smoke ? 100 : 20_000));
      const after = resident(server.child.pid);
      const baseline = (await bufferBytes(count, json)) / count / json;
      const rows = {
        resident: after.all - before.all,
        'resident without pages of files': after.withoutFiles - before.withoutFiles,
      };
      for (const [what, grown] of Object.entries(rows)) {
        const value = grown / count / json;
        results.push({
          id: `P15 ${store}`,
          workload: `${count} Pods of ${json} bytes of JSON`,
          metric: `x its JSON bytes (${json}), ${what} (${(grown / MiB).toFixed(0)} MiB)`,
          value,
          baseline: { what: 'one Buffer an object', value: baseline },
          ratio: value / baseline,
          level: levelOf(value, { good: 1.5, great: 1.2, better: 'less' }),
          demands: { good: '<= 1.5x', great: '<= 1.2x' },
        });
      }
    } finally {
      load.close();
      await server.stop();
    }
  }
  return results;
};

/** Bytes of JSON of one Pod as it is served, with no filler or with that of the first Pod. */
async function servedSize(load: Load, existing: 0 | 1): Promise<number> {
  const name = existing === 1 ? 'pod-1' : 'measure';
  if (existing === 0) {
    const status = await load.send('POST', podsPath, podBody(name, 1, 0));
    if (status !== 201) throw new Error(`create answered ${status}`);
  }
  const answer = await load.open('GET', `${podsPath}/${name}`);
  let size = 0;
  for await (const chunk of answer) size += (chunk as Buffer).length;
  return size;
}
