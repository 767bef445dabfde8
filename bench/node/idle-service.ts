import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimeOf } from '../../src/nodegc/cri/runtime.fixture.ts';
import { ImageService, RuntimeService } from '../../src/nodegc/cri/runtime.generated.ts';
import { type Benchmark, levelOf } from '../result.ts';

/**
 * NODE: the built `kubegc node run` with metrics, between two passes: resident memory, and processor time in half a minute in which no pass
 * is due. The runtime has 50 images and 100 containers.
 */
export const run: Benchmark = async ({ smoke }) => {
  const images = Array.from({ length: 50 }, (_, n) => ({ id: `sha256:${n}`, repoTags: [`team/app:${n}`], size: 7n }));
  const containers = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, imageRef: `sha256:${n % 50}`, state: 1 }));
  const runtime = await runtimeOf((router) => {
    router.service(ImageService, {
      listImages: () => ({ images }),
      imageFsInfo: () => ({ imageFilesystems: [{ fsId: { mountpoint: tmpdir() } }] }),
    });
    router.service(RuntimeService, {
      version: () => ({ runtimeName: 'fake', runtimeVersion: '1', runtimeApiVersion: 'v1' }),
      status: () => ({ info: {} }),
      listContainers: () => ({ containers }),
      containerStatus: ({ containerId }) => ({ status: { id: containerId, state: 1 } }),
    });
  });
  const directory = await mkdtemp(join(tmpdir(), 'kubegc-bench-'));
  const service = spawn(
    process.execPath,
    ['dist/kubegc.js', 'node', 'run', '--mode', 'besideKubelet', '--bind-address', '127.0.0.1:0']
      .concat(['--container-runtime-endpoint', runtime.endpoint])
      .concat(['--state-file', join(directory, 'state.json'), '--image-gc-high-threshold', '99']),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const timer = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    let said = '';
    service.stdout.on('data', (bytes: Buffer) => void (said += bytes.toString()));
    await once(service.stdout, 'data');
    await pause(smoke ? 1000 : 10_000);
    if (!said.includes('health and metrics')) throw new Error(`the service said ${said}`);
    const [value, baseline] = [residentMiB(service.pid!), residentMiB(timer.pid!)];
    const before = cpuMs(service.pid!);
    await pause(smoke ? 1000 : 30_000);
    const spent = cpuMs(service.pid!) - before;
    return [
      {
        id: 'NODE (memory)',
        workload: 'kubegc node run between two passes',
        metric: 'MiB resident',
        value,
        baseline: { what: 'a process with one timer', value: baseline },
        ratio: value / baseline,
        level: levelOf(value, { good: 60, great: 50, better: 'less' }),
        demands: { good: '<= 60 MiB', great: '<= 50 MiB' },
      },
      {
        id: 'NODE (rest)',
        workload: 'the same, 30 s in which no pass is due',
        metric: 'ms CPU',
        value: spent,
        baseline: { what: 'one tick of the kernel', value: TICK_MS },
        ratio: spent / TICK_MS,
        level: levelOf(spent, { good: 2 * TICK_MS, great: TICK_MS, better: 'less' }),
        demands: { good: '<= 20 ms', great: '<= 10 ms' },
      },
    ];
  } finally {
    service.kill();
    timer.kill();
    await once(service, 'exit');
    await runtime.close();
    await rm(directory, { recursive: true });
  }
};

const TICK_MS = 10;
const pause = (ms: number): Promise<unknown> => new Promise((settle) => setTimeout(settle, ms));

function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function cpuMs(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}
