import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallProxy } from './call-proxy.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';

const program = resolve(import.meta.dirname, '../../dist/kubegc.js');
const KIB = 1024;
const ALL_CALLS_MS = 900_000;
/** Every call takes minutes: NODE_KILL_EVERY=1 kills at each, else at each fourth. */
const EVERY = Number(process.env['NODE_KILL_EVERY'] ?? 4);

describe('kubegc node prune that is killed with -9, on containerd 2.1', () => {
  let node: ContainerdProcess;
  beforeAll(async () => {
    node = await ContainerdProcess.start(containerdReleases[2]!, 96);
    const pods = {
      kind: 'PodList',
      items: [{ metadata: { uid: 'uid-alive' }, spec: {}, status: { phase: 'Running' } }],
    };
    await writeFile(join(node.directory, 'pods.json'), JSON.stringify(pods));
    const settings = [
      'apiVersion: node.kubegc/v1alpha1',
      'kind: NodeGCConfiguration',
      `podLogsDir: ${node.podLogsDir}`,
      `containerLogsDir: ${node.containerLogsDir}`,
      'imageMinimumGCAge: 1ms',
      'parallelRemovals: 2',
    ];
    await writeFile(join(node.directory, 'node.yaml'), settings.join('\n'));
  });
  afterAll(async () => {
    await node?.close();
  });

  /** An image in use, two that are not, a dead container of a pod that lives, and a pod that is gone with its logs. */
  async function fill(): Promise<void> {
    for (const { id: podSandboxId } of (await node.runtime.listPodSandbox({})).items) {
      await node.runtime.stopPodSandbox({ podSandboxId });
      await node.runtime.removePodSandbox({ podSandboxId });
    }
    await rm(join(node.directory, 'state.json'), { force: true });
    for (const entry of await readdir(node.podLogsDir)) await rm(join(node.podLogsDir, entry), { recursive: true });
    await node.import(
      ['used', 'a', 'b'].map((tag) => ({
        name: `localhost/app:${tag}`,
        layers: [node.busybox, fillerLayer(64 * KIB)],
      })),
    );
    const alive = await node.runPod('alive');
    for (const attempt of [0, 1]) {
      const id = await node.runContainer(alive, 'localhost/app:used', { attempt, command: ['/bin/true'] });
      await node.untilExited(id);
    }
    const gone = await node.runPod('gone');
    await node.untilExited(await node.runContainer(gone, 'localhost/app:used', { command: ['/bin/true'] }));
    await node.runtime.stopPodSandbox({ podSandboxId: gone.sandboxId });
  }

  /** Everything that a later look can see, without the ids that the runtime gives. */
  async function seen(): Promise<unknown> {
    const { containers } = await node.runtime.listContainers({});
    return {
      images: await node.imageNames(),
      containers: containers.map(({ metadata, labels }) => `${labels['io.kubernetes.pod.name']} ${metadata?.attempt}`),
      sandboxes: (await node.runtime.listPodSandbox({})).items.map(({ metadata }) => metadata?.name),
      logs: (await readdir(node.podLogsDir, { recursive: true })).toSorted(),
    };
  }

  async function prune(endpoint: string, onStart: (kill: () => void) => void): Promise<NodeJS.Signals | number> {
    const flags = [
      '--config',
      join(node.directory, 'node.yaml'),
      '--pods',
      `file=${join(node.directory, 'pods.json')}`,
    ];
    const child = spawn(
      process.execPath,
      [program, 'node', 'prune', '--confirm', '--containers', ...flags]
        .concat(['--container-runtime-endpoint', endpoint])
        .concat(['--state-file', join(node.directory, 'state.json')]),
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    onStart(() => void child.kill('SIGKILL'));
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal ?? code ?? -1;
  }

  it(
    'NODE-228 reaches the same end when it runs again, at whichever call it was killed, before the runtime had the call and while it worked on it',
    async () => {
      const path = join(node.directory, 'p.sock');
      const proxy = await CallProxy.start(path, join(node.directory, 'c.sock'));
      try {
        await fill();
        expect(await prune(`unix://${path}`, () => undefined)).toBe(0);
        const end = await seen();
        const calls = proxy.calls;
        expect(end).toMatchObject({ images: [PAUSE_IMAGE, 'localhost/app:used'].toSorted(), containers: ['alive 1'] });
        expect(calls).toBeGreaterThan(20);

        for (let at = 1; at <= calls; at += EVERY) {
          for (const when of ['before', 'after'] as const) {
            await fill();
            proxy.calls = 0;
            const how = await prune(`unix://${path}`, (kill) => {
              proxy.onCall = (number, then) => {
                if (number !== at || then !== when) return undefined;
                kill();
                return when === 'after';
              };
            });
            proxy.onCall = () => undefined;
            // Calls that follow each other closely may be fewer in another run, never the first ones.
            if (at <= 20) expect({ at, when, how }).toEqual({ at, when, how: 'SIGKILL' });
            expect(await prune(node.endpoint, () => undefined)).toBe(0);
            expect({ at, when, end: await seen() }).toEqual({ at, when, end });
          }
        }
      } finally {
        await proxy.close();
      }
    },
    ALL_CALLS_MS,
  );
});
