import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServingCertificates } from '../../src/apiserver/authentication/certificates.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { ApiClient } from '../../test/program/api-client.ts';
import { type Benchmark, levelOf, median } from '../result.ts';
import { ServerProcess } from './server-process.ts';

/**
 * P21s: sixteen `kubegc up --store memory` at once, as tests of sixteen workers start them, until the last one is ready. Each then answers
 * a request. The baseline starts sixteen bare node:https servers, each of which prints its port when it listens.
 */
const namespace = '/api/v1/namespaces/default';

async function kubegcMs(count: number): Promise<number> {
  const began = performance.now();
  const servers = Array.from({ length: count }, () => new ServerProcess({ args: ['--store', 'memory'] }));
  try {
    await Promise.all(servers.map(({ ready }) => ready));
    const ms = performance.now() - began;
    for (const { kubeconfig } of servers) {
      const client = new ApiClient(kubeconfig);
      const { status } = await client.send('GET', namespace);
      client.close();
      if (status !== 200) throw new Error(`GET ${namespace} answered ${status}`);
    }
    return ms;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const bareServer = `
const { readFileSync } = require('node:fs');
const [cert, key] = process.argv.slice(1).map((file) => readFileSync(file));
require('node:https').createServer({ cert, key }, (q, a) => a.end('{}')).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

async function bareMs(count: number, files: readonly string[]): Promise<number> {
  const began = performance.now();
  const children: ChildProcess[] = [];
  try {
    const listening = Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, ['-e', bareServer, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      await new Promise((settle, reject) => {
        child.stdout.once('data', settle);
        child.once('close', (code) => reject(new Error(`a server ended with ${code}`)));
      });
    });
    await Promise.all(listening);
    return performance.now() - began;
  } finally {
    for (const child of children) child.kill();
  }
}

export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 2 : 16;
  const rounds = smoke ? 1 : 5;
  const directory = mkdtempSync(join(tmpdir(), 'kubegc-bench-'));
  try {
    const { certPem, keyPem } = await createServingCertificates({ clock: systemClock, random: systemRandom });
    const files = Object.entries({ certPem, keyPem }).map(([name, text]) => {
      const file = join(directory, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    });
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      bare.push(await bareMs(count, files));
      ours.push(await kubegcMs(count));
    }
    const [value, baseline] = [median(ours), median(bare)];
    return [
      {
        id: 'P21s',
        workload: `${count} kubegc up --store memory at once, ${rounds} rounds`,
        metric: 'ms until all are ready',
        value,
        baseline: { what: `${count} node:https servers`, value: baseline },
        ratio: value / baseline,
        level: levelOf(value / baseline, { good: 5, great: 3, better: 'less' }),
        demands: { good: '<= 5x', great: '<= 3x' },
      },
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
