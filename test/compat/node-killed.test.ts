import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { CallProxy, type Verdict } from './call-proxy.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE, type Pod } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';

const program = resolve(import.meta.dirname, '../../dist/kubegc.js');
const KIB = 1024;
const ALL_CALLS_MS = 900_000;
const NEWEST = containerdReleases.at(-1)!;
/** Every call on the newest generation, each fourth on the older ones. NODE_KILL_EVERY=1: every call on all of them. */
const everyOf = (version: string): number =>
  Number(process.env['NODE_KILL_EVERY'] ?? (version === NEWEST.version ? 1 : 4));

/** Calls that change something on the node. */
const CHANGES = /\/(Remove|Stop)/;

/** The call at which a process is killed. The runtime never gets it, or works on it when the process is gone. */
interface Kill {
  readonly when: 'before' | 'while';
  /** Number of the call; for `while`, only calls that change something count. */
  readonly at: number;
}

/** A process of the command on a socket of its own. */
interface Pruning {
  /** Lets its calls through to the runtime until the kill. Resolves with the exit code, or the signal that ended it. */
  run(kill?: Kill): Promise<NodeJS.Signals | number>;
  /** Names of the calls that the runtime got. */
  readonly passed: readonly string[];
  readonly stateFile: string;
}

const never = new Promise<never>(() => undefined);

describe.each(containerdReleases)('kubegc node prune that is killed with -9, on containerd $version', (release) => {
  let node: ContainerdProcess;
  let alive: Pod;
  let attempts = 0;
  let processes = 0;
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    node = await ContainerdProcess.start(release, 96);
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
    await node.import([{ name: 'localhost/app:used', layers: [node.busybox, fillerLayer(64 * KIB)] }]);
    alive = await node.runPod('alive');
    const options = { attempt: attempts++, command: ['/bin/true'] };
    await node.untilExited(await node.runContainer(alive, 'localhost/app:used', options));
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await node?.close();
  });

  /** One more dead container of this pod, with a log. It never started, because that takes long. */
  async function addDeadContainer(pod: Pod, attempt: number): Promise<void> {
    await node.runContainer(pod, 'localhost/app:used', { attempt, start: false });
    await writeFile(join(pod.logDirectory, 'app', `${attempt}.log`), 'said');
  }

  /** Two images that nobody uses. */
  async function addImages(): Promise<void> {
    await node.import(['a', 'b'].map((tag) => ({ name: `localhost/app:${tag}`, layers: [fillerLayer(64 * KIB)] })));
  }

  /** One more dead container of the pod that lives, and a pod that is gone, with its logs. */
  async function addContainers(): Promise<void> {
    const gone = await node.runPod('gone');
    await Promise.all([
      addDeadContainer(alive, attempts++),
      addDeadContainer(gone, 0),
      node.runtime.stopPodSandbox({ podSandboxId: gone.sandboxId }),
    ]);
  }

  /** Everything that a later look can see, without the ids that the runtime gives. The newest attempt counts as 0. */
  async function seen(): Promise<unknown> {
    const newest = attempts - 1;
    const { containers } = await node.runtime.listContainers({});
    const logs = await readdir(node.podLogsDir, { recursive: true });
    return {
      images: await node.imageNames(),
      containers: containers.map(
        ({ metadata, labels }) => `${labels['io.kubernetes.pod.name']} ${metadata!.attempt - newest}`,
      ),
      sandboxes: (await node.runtime.listPodSandbox({})).items.map(({ metadata }) => metadata?.name),
      logs: logs.map((path) => path.replace(`/${newest}.log`, '/newest.log')).toSorted(),
    };
  }

  const prune = (endpoint: string, stateFile: string): string[] =>
    ['node', 'prune', '--confirm', '--containers', '--config', join(node.directory, 'node.yaml')]
      .concat(['--pods', `file=${join(node.directory, 'pods.json')}`])
      .concat(['--container-runtime-endpoint', endpoint, '--state-file', stateFile]);

  /** Starts another process, which remembers nothing. Its first call waits until it may run. */
  async function begin(): Promise<Pruning> {
    const own = join(node.directory, String(++processes));
    const proxy = await CallProxy.start(`${own}.sock`, join(node.directory, 'c.sock'));
    let start: (kill: Kill | undefined) => void = () => undefined;
    const started = new Promise<Kill | undefined>((settle) => (start = settle));
    const stateFile = `${own}.json`;
    const child = spawn(process.execPath, [program, ...prune(`unix://${own}.sock`, stateFile)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const close = async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
      await proxy.close();
    };
    closers.push(close);
    const passed: string[] = [];
    let changes = 0;
    proxy.onCall = async ({ name, number }): Promise<Verdict> => {
      const kill = await started;
      if (child.killed) return await never;
      if (kill?.when === 'before' && kill.at === number) {
        child.kill('SIGKILL');
        return await never;
      }
      passed.push(name);
      return 'pass';
    };
    proxy.onPassed = async ({ name }) => {
      const kill = await started;
      if (CHANGES.test(name) && ++changes === kill?.at && kill.when === 'while') child.kill('SIGKILL');
    };
    return {
      passed,
      stateFile,
      run: async (kill) => {
        start(kill);
        const [code, signal] = await ended;
        await close();
        return signal ?? code ?? -1;
      },
    };
  }

  /** The same command in this process, with the state file of the one that was killed. */
  async function again(stateFile: string): Promise<number> {
    const terminal = {
      stdout: () => undefined,
      stderr: (text: string) => void process.stderr.write(text),
      columns: 80,
    };
    return await run(prune(node.endpoint, stateFile), terminal);
  }

  /** The whole pass without a kill: what is left after it, and its calls. */
  async function undisturbed(): Promise<{ readonly end: unknown; readonly calls: readonly string[] }> {
    const pruning = await begin();
    expect(await pruning.run()).toBe(0);
    const end = await seen();
    expect(end).toMatchObject({
      images: [PAUSE_IMAGE, 'localhost/app:used'].toSorted(),
      containers: ['alive 0'],
      sandboxes: ['alive'],
    });
    return { end, calls: pruning.passed };
  }

  /** Kills a pass at each of these calls, and runs it again after. Where the kill changed nothing, the next one needs no new node. */
  async function killAt(kills: readonly Kill[], fill: () => Promise<void>, end: unknown): Promise<void> {
    let next = await begin();
    let filled: unknown;
    for (const [index, kill] of kills.entries()) {
      const killed = next;
      const isLast = index === kills.length - 1;
      if (filled === undefined) {
        await fill();
        filled = await seen();
      }
      // It starts while the one before it works.
      if (!isLast) next = await begin();
      expect({ kill, how: await killed.run(kill) }).toEqual({ kill, how: 'SIGKILL' });
      const left = await seen();
      if (isDeepStrictEqual(left, filled) && !isLast) continue;
      expect(await again(killed.stateFile)).toBe(0);
      expect({ kill, end: await seen() }).toEqual({ kill, end });
      filled = undefined;
    }
  }

  /** Kills before each of the calls from one to another, and while the runtime makes each of the changes; on older generations fewer. */
  const kills = (from: number, to: number, changes: number): Kill[] =>
    [
      ...Array.from({ length: to - from + 1 }, (_, index): Kill => ({ when: 'before', at: from + index })),
      ...Array.from({ length: changes }, (_, index): Kill => ({ when: 'while', at: index + 1 })),
    ].filter((_, index) => index % everyOf(release.version) === 0);
  const changesIn = (calls: readonly string[]): string[] => calls.filter((name) => CHANGES.test(name));

  it(
    'NODE-228 reaches the same end when it runs again, at whichever call it was killed from the first removal of a container to the last of a sandbox',
    async () => {
      const fill = async (): Promise<void> => void (await Promise.all([addImages(), addContainers()]));
      await fill();
      const { end, calls } = await undisturbed();
      const changes = changesIn(calls).filter((name) => !name.endsWith('/RemoveImage'));
      expect(changes.map((name) => name.split('/')[1]).toSorted()).toEqual([
        'RemoveContainer',
        'RemoveContainer',
        'RemovePodSandbox',
        'StopPodSandbox',
      ]);
      // The next test kills at the calls before these, which only read.
      const first = calls.indexOf('RuntimeService/ContainerStatus') + 1;
      const last = calls.lastIndexOf('RuntimeService/RemovePodSandbox') + 1;
      await killAt(kills(first, last + 1, changes.length), fill, end);
    },
    ALL_CALLS_MS,
  );

  it(
    'NODE-228 reaches the same end when it runs again, at whichever call it was killed of a pass that removes images',
    async () => {
      await addImages();
      const { end, calls } = await undisturbed();
      expect(changesIn(calls)).toEqual(['ImageService/RemoveImage', 'ImageService/RemoveImage']);
      await killAt(kills(1, calls.length, 2), addImages, end);
    },
    ALL_CALLS_MS,
  );
});
