import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/time/clock.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { run } from '../../src/cli/program.ts';
import { defaultConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { NodeCollection, type NodeCollectionOptions } from '../../src/nodegc/daemon/node-collection.ts';
import type { KnownPod } from '../../src/nodegc/pods/pod-verdicts.ts';
import { CallProxy, type Verdict } from './call-proxy.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';
import { until } from '../program/until.ts';

const KIB = 1024;
const MILLISECOND = 1_000_000n;
/** Long enough for calls that are answered, on a busy machine too. */
const LIMIT_MS = 2_000n;
const never = new Promise<never>(() => undefined);
const USED = 'localhost/app:used';
const KEPT = [USED, PAUSE_IMAGE].toSorted();

describe('kubegc node on containerd 2.1 that does not answer, or refuses a removal', () => {
  let node: ContainerdProcess;
  let proxy: CallProxy;
  const open: NodeCollection[] = [];

  beforeAll(async () => {
    node = await ContainerdProcess.start(containerdReleases.at(-1)!, 96);
    proxy = await CallProxy.start(join(node.directory, 'p.sock'), join(node.directory, 'c.sock'));
    await node.import([{ name: USED, layers: [node.busybox, fillerLayer(64 * KIB)] }]);
    await node.runContainer(await node.runPod('alive'), USED, { start: false });
  });
  afterAll(async () => {
    await proxy?.close();
    await node?.close();
  });
  beforeEach(async () => {
    for (const { id, repoTags } of (await node.images.listImages({})).images) {
      if (!repoTags.some((tag) => KEPT.includes(tag))) await node.images.removeImage({ image: { image: id } });
    }
    await node.import(
      ['a', 'b', 'c'].map((tag) => ({ name: `localhost/app:${tag}`, layers: [fillerLayer(64 * KIB)] })),
    );
  });
  afterEach(() => {
    proxy.onCall = () => 'pass';
    for (const each of open.splice(0)) each.close();
  });

  async function connect(more: Partial<NodeCollectionOptions> = {}): Promise<NodeCollection> {
    const collection = await NodeCollection.open({
      configuration: {
        ...defaultConfiguration,
        containerRuntimeEndpoint: `unix://${join(node.directory, 'p.sock')}`,
        podLogsDir: node.podLogsDir,
        containerLogsDir: node.containerLogsDir,
        imageMinimumGCAge: MILLISECOND,
        protectRecent: MILLISECOND,
        runtimeRequestTimeout: LIMIT_MS * MILLISECOND,
        parallelRemovals: 1,
      },
      clock: systemClock,
      logger: silentLogger,
      remember: false,
      unknownImages: 'asRecorded',
      ...more,
    });
    open.push(collection);
    return collection;
  }

  async function kubegc(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    const terminal = {
      stdout: (text: string) => void (out += text),
      stderr: (text: string) => void (err += text),
      columns: 120,
    };
    const own = ['--container-runtime-endpoint', `unix://${join(node.directory, 'p.sock')}`]
      .concat(['--state-file', join(node.directory, 'state.json'), '--minimum-image-ttl-duration', '1ms'])
      .concat(['--runtime-request-timeout', `${LIMIT_MS}ms`]);
    return { code: await run(['node', ...args, ...own], terminal), out, err };
  }

  /** The calls that reach the proxy from now on. `decide` says what becomes of each. */
  function watch(decide: (name: string, request: Buffer) => Verdict | Promise<Verdict>): string[] {
    const names: string[] = [];
    proxy.onCall = ({ name, request }) => {
      names.push(name);
      return decide(name, request);
    };
    return names;
  }
  const hang = (method: string): string[] => watch((name) => (name === method ? never : 'pass'));

  it.each([
    ['ImageService/ListImages', 'list_images'],
    ['RuntimeService/ListContainers', 'list_containers'],
  ])(
    'NODE-019 ends a pass over images within the time limit of a call when %s is never answered',
    async (method, operation) => {
      const collection = await connect();
      await collection.images.detect();
      const before = collection.images.inventory;
      const calls = hang(method);
      await expect(collection.images.collect('deleteUnused')).rejects.toMatchObject({
        failure: 'unreachable',
        message: `no answer to ${operation} within 2s: context deadline exceeded`,
      });
      expect(calls.filter((name) => name === method)).toHaveLength(1);
      expect(collection.images.inventory).toBe(before);
      expect(await node.imageNames()).toHaveLength(5);

      proxy.onCall = () => 'pass';
      expect(await collection.images.collect('deleteUnused')).toMatchObject({ outcome: 'success', failed: [] });
      expect(await node.imageNames()).toEqual(KEPT);
    },
  );

  it('NODE-019 asks once and removes nothing when the check right before a removal is never answered', async () => {
    const collection = await connect();
    const calls = hang('ImageService/ImageStatus');
    const result = await collection.images.collect('deleteUnused');
    expect(result).toMatchObject({
      outcome: 'error',
      removed: [],
      error: 'errors in image deletion: no answer to image_status within 2s: context deadline exceeded',
    });
    const asked = calls.filter((name) => ['ImageService/ImageStatus', 'ImageService/RemoveImage'].includes(name));
    expect(asked).toEqual(['ImageService/ImageStatus']);
    expect(await node.imageNames()).toHaveLength(5);

    proxy.onCall = () => 'pass';
    // No image is at fault, so none has to wait.
    expect((await collection.images.collect('deleteUnused')).removed).toHaveLength(3);
    expect(await node.imageNames()).toEqual(KEPT);
  });

  it('NODE-202 goes by the sizes of the runtime when containerd does not show its content, and removes the same images', async () => {
    const collection = await connect();
    hang('Content/List');
    const result = await collection.images.collect('deleteUnused');
    expect(result).toMatchObject({ outcome: 'success', failed: [] });
    expect(result.removed.map(({ exact }) => exact)).toEqual([false, false, false]);
    expect(await node.imageNames()).toEqual(KEPT);
  });

  it('NODE-019 ends a pass over containers when a status is never answered, keeps container and log, and removes them in the next pass', async () => {
    const gone = await node.runPod('gone');
    const ids = [0, 1].map((attempt) => node.runContainer(gone, USED, { attempt, command: ['/bin/true'] }));
    for (const id of ids) await node.untilExited(await id);
    await node.runtime.stopPodSandbox({ podSandboxId: gone.sandboxId });
    const alive: KnownPod = {
      uid: 'uid-alive',
      mirrorOf: undefined,
      phase: 'Running',
      reason: '',
      deleted: false,
      images: [],
    };
    const collection = await connect({ knownPods: () => [alive] });
    const before = await node.containerIds();
    const logs = await readdir(node.podLogsDir, { recursive: true });
    let silent = false;
    const calls = watch((name) => {
      silent ||= name === 'RuntimeService/ContainerStatus';
      return silent ? never : 'pass';
    });
    const result = await collection.containers.collect();
    // Each step asks once; the first one asks for the version as well, in case only one container hangs.
    const said = (call: string): string => `no answer to ${call} within 2s: context deadline exceeded`;
    expect(result.error).toBe(`[${['container_status', 'list_podsandbox', 'list_containers'].map(said).join(', ')}]`);
    expect([result.removed, await node.containerIds()]).toEqual([[], before]);
    expect(await readdir(node.podLogsDir, { recursive: true })).toEqual(logs);
    expect(calls.filter((name) => name === 'RuntimeService/ContainerStatus')).toHaveLength(1);

    proxy.onCall = () => 'pass';
    const next = await collection.containers.collect();
    expect([next.error, next.left]).toEqual([undefined, []]);
    expect(next.removed.map(({ kind }) => kind)).toEqual(['container', 'container', 'sandbox', 'logDirectory']);
  });

  it('NODE-019 ends with 4 when the whole runtime hangs, and goes on with the same runtime when it answers again', async () => {
    const collection = await connect();
    process.kill(node.pid, 'SIGSTOP');
    try {
      await until('containerd stands still', async () =>
        (await readFile(`/proc/${node.pid}/stat`, 'utf8')).includes('(containerd) T '),
      );
      await expect(collection.images.collect('deleteUnused')).rejects.toThrow('no answer to list_images within 2s');
      const said = await kubegc('prune', '--confirm');
      expect(said).toEqual({
        code: 4,
        out: '',
        err:
          `error: the container runtime at unix://${join(node.directory, 'p.sock')} does not answer: ` +
          'no answer to version within 2s: context deadline exceeded\n' +
          'Read its log, restart it, or give it more time with --runtime-request-timeout.\n',
      });
    } finally {
      process.kill(node.pid, 'SIGCONT');
    }
    expect(await node.imageNames()).toHaveLength(5);
    expect((await collection.images.collect('deleteUnused')).removed).toHaveLength(3);
  });

  it('NODE-228 never ends a removal that hangs, says so when it stops, and counts it when it is answered after all', async () => {
    const waiting = new FakeClock();
    let held = false;
    const collection = await connect({
      clock: {
        ...systemClock,
        // Only the wait for removals that are under way takes minutes.
        setTimer: (delayMs, fn) => (delayMs > 60_000 ? waiting : systemClock).setTimer(delayMs, fn),
      },
    });
    let answer: (verdict: Verdict) => void = () => undefined;
    const asked = new Promise<void>((settle) => {
      watch((name) => {
        if (name !== 'ImageService/RemoveImage' || held) return 'pass';
        held = true;
        settle();
        return new Promise<Verdict>((go) => (answer = go));
      });
    });
    const pass = collection.images.collect('deleteUnused');
    await asked;
    const drained = collection.images.drain();
    waiting.advance(120_000);
    expect(await drained).toBe(false);
    // Long after the time limit of other calls it is still under way.
    expect(await node.imageNames()).toHaveLength(5);
    answer('pass');
    expect((await pass).removed).toHaveLength(3);
    expect([await collection.images.drain(), await node.imageNames()]).toEqual([true, KEPT]);
  });

  it('NODE-017, 216 removes the others when one image cannot be removed, tries that one again after 1, 2 and 4 minutes, and removes it once it can', async () => {
    let ahead = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
    const stuck = (await node.imageId('localhost/app:b'))!;
    const collection = await connect({ clock });
    let tries = 0;
    watch((name, request) => {
      if (name !== 'ImageService/RemoveImage' || !request.includes(stuck)) return 'pass';
      tries++;
      return { code: Code.Internal, message: 'failed to delete image: the device is busy' };
    });
    const first = await collection.images.collect('deleteUnused');
    expect(first).toMatchObject({
      outcome: 'partial',
      error: 'errors in image deletion: failed to delete image: the device is busy',
      failed: [{ record: { key: stuck } }],
    });
    expect(first.removed).toHaveLength(2);
    expect(await node.imageNames()).toEqual(['localhost/app:b', ...KEPT].toSorted());

    const tried: number[] = [];
    for (let minute = 0; minute < 8; minute++) {
      const earlier = tries;
      const result = await collection.images.collect('deleteUnused');
      if (tries > earlier) tried.push(minute);
      else
        expect(result.skipped).toContainEqual({
          record: expect.objectContaining({ key: stuck }),
          reason: 'retryLater',
        });
      ahead += 60_000;
    }
    expect(tried).toEqual([1, 3, 7]);

    proxy.onCall = () => 'pass';
    ahead += 480_000;
    expect((await collection.images.collect('deleteUnused')).removed).toMatchObject([{ record: { key: stuck } }]);
    expect(await node.imageNames()).toEqual(KEPT);
  });

  it('NODE-017 says by hand which image stays and why, and ends with 1', async () => {
    const stuck = (await node.imageId('localhost/app:b'))!;
    watch((name, request) =>
      name === 'ImageService/RemoveImage' && request.includes(stuck)
        ? { code: Code.Internal, message: 'the device is busy' }
        : 'pass',
    );
    const said = await kubegc('prune', '--confirm');
    expect(said.code).toBe(1);
    expect(said.out).toMatch(
      /^removed localhost\/app:\w\nremoved localhost\/app:\w\nRemoved 2 images; .* came back; 1 failed\.\n$/,
    );
    expect(said.err).toBe('left localhost/app:b: the device is busy\nerrors in image deletion: the device is busy\n');
    proxy.onCall = () => 'pass';
    expect(await kubegc('prune', '--confirm')).toMatchObject({ code: 0, err: '' });
    expect(await node.imageNames()).toEqual(KEPT);
  });
});
