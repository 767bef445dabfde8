import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { until } from '../program/until.ts';
import { fillerLayer } from './oci-archive.ts';

const program = resolve(import.meta.dirname, '../../dist/kubegc.js');
const MIB = 1 << 20;
// The moments of kill -9 below: none of them is a wait for anything.
const pause = (ms: number): Promise<unknown> => new Promise((go) => setTimeout(go, ms));

describe('kubegc node run, as a process', () => {
  let node: ContainerdProcess;
  let child: ChildProcess | undefined;

  beforeAll(async () => {
    node = await ContainerdProcess.start(containerdReleases[1]!, 96);
  });
  afterAll(async () => {
    child?.kill('SIGKILL');
    await node?.close();
  });

  function start(): { readonly said: () => string } {
    let text = '';
    const flags = [
      '--container-runtime-endpoint',
      node.endpoint,
      '--minimum-image-ttl-duration',
      '1ms',
      '--state-file',
      join(node.directory, 'state.json'),
    ];
    const thresholds = ['--image-gc-high-threshold', '40', '--image-gc-low-threshold', '30'];
    child = spawn(process.execPath, [program, 'node', 'run', '--mode', 'besideKubelet', ...thresholds, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.on('data', (bytes: Buffer) => void (text += bytes.toString()));
    child.stderr?.on('data', (bytes: Buffer) => void (text += bytes.toString()));
    return { said: () => text };
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const exited = once(child!, 'exit');
    child!.kill(signal);
    return ((await exited) as [number | null])[0];
  }

  /** As a process saves it at the end of its first pass, and when it ends. */
  async function savedState(): Promise<{ readonly kind: string; readonly images: object }> {
    return JSON.parse(await readFile(join(node.directory, 'state.json'), 'utf8')) as never;
  }

  /** Resolves when the state names so many images; there is no file before the first pass. */
  const untilSaved = (isIt: (images: number) => boolean): Promise<unknown> =>
    until('the pass is over and its state saved', () =>
      savedState()
        .then(({ images }) => isIt(Object.keys(images).length))
        .catch(() => false),
    );

  it('NODE-210, 228 remembers over SIGTERM, and reaches the goal after kill -9 whenever it comes', async () => {
    start();
    await untilSaved((images) => images === 1);
    expect(await end('SIGTERM')).toBe(0);
    const state = await savedState();
    expect([state.kind, Object.keys(state.images).length]).toEqual(['NodeState', 1]);

    await node.import(
      Array.from({ length: 7 }, (_, index) => ({
        name: `localhost/team/app:${index}`,
        layers: [node.busybox, fillerLayer(4 * MIB)],
      })),
    );
    // The first sight of them makes them new; a process that has seen them before lets them go.
    start();
    await untilSaved((images) => images === 8);
    expect(await end('SIGTERM')).toBe(0);
    const names = async (): Promise<string[]> => await node.imageNames();
    const before = (await names()).length;
    for (const delay of [150, 250, 350, 450, 600]) {
      start();
      await pause(delay);
      await end('SIGKILL');
      expect(await names()).toContain(PAUSE_IMAGE);
    }
    const last = start();
    // A killed process may have removed images already; a signal before this line would end a process that does not listen for it yet.
    await until('the process listens for signals', () => last.said().includes('is ready'));
    await until('images are removed', async () => (await names()).length < before);
    await untilSaved((images) => images < before);
    expect(await end('SIGTERM')).toBe(0);
    expect(last.said()).not.toContain('error');
    const { stdout } = { stdout: await names() };
    expect(stdout).toContain(PAUSE_IMAGE);
    expect(stdout.length).toBeGreaterThan(1);
  });
});
