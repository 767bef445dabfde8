import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/errors/thrown.ts';
import { machineLine } from './machine.ts';
import type { BenchResult } from './result.ts';

/**
 *   npm run bench                    all benchmarks
 *   npm run bench -- P03 P13         some
 *   npm run bench -- --smoke         all, small: proves that they work; figures mean nothing
 *   npm run bench -- --json P03      one JSON object a result, for scripts
 *
 * Each benchmark runs in a process of its own, because several measure memory.
 */
const files: Readonly<Record<string, string>> = {
  P01: 'collector/ingest.ts',
  P02: 'collector/update-skip.ts',
  P03: 'collector/bytes-per-object.ts',
  P04: 'collector/cold-start.ts',
  P05: 'collector/cascade-anywhere.ts',
  P06: 'apiserver/cascade.ts',
  P07: 'apiserver/cascade-etcd.ts',
  P08: 'apiserver/crud.ts',
  P09: 'apiserver/latency.ts',
  P10: 'apiserver/list.ts',
  P11: 'apiserver/fan-out.ts',
  P12: 'collector/preview-walk.ts',
  PREVIEW: 'cascade/preview.ts',
  P13: 'program/start-up.ts',
  P14: 'program/idle-memory.ts',
  P15: 'apiserver/stored-bytes.ts',
  P16: 'collector/stalls.ts',
  P17: 'node/image-plan.ts',
  NODE: 'node/idle-service.ts',
  P18: 'cascade/undo.ts',
  P19: 'collector/soak.ts',
  DEFINITIONS: 'collector/definitions.ts',
  P20: 'client/delete-loop.ts',
  P21: 'testing/start-cluster.ts',
  P21S: 'program/many-servers.ts',
  FORK: 'testing/fork-cluster.ts',
  TREE: 'cascade/tree.ts',
  WORKLOADS: 'lifecycle/workloads.ts',
  CEL: 'apiserver/rules.ts',
  TURNS: 'apiserver/turns.ts',
};

const args = process.argv.slice(2);
const smoke = args.includes('--smoke');
const json = args.includes('--json');
const asked = args.filter((arg) => !arg.startsWith('--')).map((arg) => arg.toUpperCase());
const unknown = asked.filter((id) => !(id in files));
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; there are ${Object.keys(files).join(', ')}`);
  process.exit(1);
}

function runOne(file: string): Promise<readonly BenchResult[]> {
  const runner = fileURLToPath(new URL('one.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=8192', '--import', 'tsx', runner, file, ...(smoke ? ['--smoke'] : [])],
    // NaN stays NaN with this serialization: as JSON it would be null.
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' },
  );
  return new Promise((settle, reject) => {
    let results: readonly BenchResult[] | undefined;
    child.on('message', (message) => (results = message as readonly BenchResult[]));
    child.on('close', (code) =>
      code === 0 && results ? settle(results) : reject(new Error(`${file} ended with ${code}`)),
    );
  });
}

const number = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString();

if (!json) console.log(smoke ? 'smoke: the figures mean nothing' : await machineLine());
let failures = 0;
for (const [id, file] of Object.entries(files)) {
  if (asked.length > 0 && !asked.includes(id)) continue;
  if (!existsSync(fileURLToPath(new URL(file, import.meta.url)))) {
    console.error(`${id}: bench/${file} does not exist`);
    failures++;
    continue;
  }
  try {
    for (const result of await runOne(file)) {
      // The kernel counts processor time in steps of 10 ms: a small run may have used none.
      if (!smoke && !Number.isFinite(result.ratio)) throw new Error(`${result.id} was too short to be measured`);
      if (json) console.log(JSON.stringify(result));
      else {
        const { good, great } = result.demands;
        console.log(
          `${result.id.padEnd(18)} ${(smoke ? 'ran' : result.level).padEnd(6)} ${number(result.value)} ${result.metric}; ` +
            `${result.ratio.toFixed(2)}x of ${result.baseline.what} (${number(result.baseline.value)}); good ${good}, great ${great}`,
        );
      }
    }
  } catch (error) {
    failures++;
    console.error(`${id}: ${messageOf(error)}`);
  }
}
process.exitCode = failures > 0 ? 1 : 0;
