import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServingCertificates } from '../../src/apiserver/authentication/certificates.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { type Benchmark, levelOf, median } from '../result.ts';

/**
 * P21: `startCluster` of the built `kubegc/testing` until its two objects are there: the first of a process, from spawn, and those
 * that follow in it. The baseline does the same with a node:https server until it has answered one GET.
 */
const testing = new URL('../../dist/testing.js', import.meta.url);
const starts = fileURLToPath(new URL('starts.mjs', import.meta.url));

interface Starts {
  /** From spawn, ms. */
  readonly first: number;
  /** Each from its own beginning, ms. */
  readonly later: readonly number[];
}

async function measure(what: 'clusters' | 'servers', rounds: number, args: readonly string[]): Promise<Starts> {
  const spawned = performance.now();
  const child = spawn(process.execPath, [starts, what, String(rounds), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((settle) => child.once('close', settle));
  let first = Number.NaN;
  let later: readonly number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') first = performance.now() - spawned;
    else later = JSON.parse(line) as readonly number[];
  }
  const code = await ended;
  if (code !== 0 || later.length !== rounds) throw new Error(`${what} ended with ${code}`);
  return { first, later };
}

export const run: Benchmark = async ({ smoke }) => {
  if (!existsSync(testing)) throw new Error('dist/testing.js is missing: npm run build');
  const directory = mkdtempSync(join(tmpdir(), 'kubegc-bench-'));
  try {
    const { caPem, certPem, keyPem } = await createServingCertificates({ clock: systemClock, random: systemRandom });
    const files = Object.entries({ certPem, keyPem, caPem }).map(([name, text]) => {
      const file = join(directory, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    });
    const processes = smoke ? 2 : 9;
    const rounds = smoke ? 3 : 50;
    const ours: Starts[] = [];
    const servers: Starts[] = [];
    for (let round = 0; round < processes; round++) {
      servers.push(await measure('servers', rounds, files));
      ours.push(await measure('clusters', rounds, [testing.href]));
    }
    const compared = (of: (starts: Starts) => readonly number[]) => {
      const [value, baseline] = [ours, servers].map((all) => median(all.flatMap(of)));
      return { value: value ?? Number.NaN, baseline: baseline ?? Number.NaN };
    };
    const first = compared((all) => [all.first]);
    const later = compared((all) => all.later);
    const what = 'a node:https server and one GET';
    return [
      {
        id: 'P21 (first)',
        workload: `spawn to the first cluster with two objects, ${processes} processes`,
        metric: 'ms to the first cluster',
        value: first.value,
        baseline: { what, value: first.baseline },
        ratio: first.value / first.baseline,
        level: levelOf(first.value / first.baseline, { good: 5, great: 3, better: 'less' }),
        demands: { good: '<= 5x', great: '<= 3x' },
      },
      {
        id: 'P21 (later)',
        workload: `a cluster with two objects in a process that had one, ${processes} times ${rounds}`,
        metric: 'ms to a later cluster',
        value: later.value,
        baseline: { what, value: later.baseline },
        ratio: later.value / later.baseline,
        level: levelOf(later.value / later.baseline, { good: 10, great: 5, better: 'less' }),
        demands: { good: '<= 10x', great: '<= 5x' },
      },
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
