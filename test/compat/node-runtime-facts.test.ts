import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE, type Pod } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';
import { until } from '../program/until.ts';

const KIB = 1 << 10;

// The behaviour of a runtime: the reasons why node collection checks everything itself before it asks.
describe.each(containerdReleases)('containerd $version, as node collection takes it to be', (release) => {
  let node: ContainerdProcess;
  let pod: Pod;
  beforeAll(async () => {
    node = await ContainerdProcess.start(release, 96);
  });
  afterAll(async () => {
    await node?.close();
  });
  let pods = 0;
  beforeEach(async () => {
    for (const { id: podSandboxId } of (await node.runtime.listPodSandbox({})).items) {
      await node.runtime.stopPodSandbox({ podSandboxId });
      await node.runtime.removePodSandbox({ podSandboxId });
    }
    await node.import([{ name: 'localhost/app:1', layers: [node.busybox, fillerLayer(64 * KIB)] }]);
    pod = await node.runPod(`facts-${++pods}`);
  });

  const stateOf = async (containerId: string): Promise<number | undefined> =>
    (await node.runtime.containerStatus({ containerId })).status?.state;

  it('NODE-232 is of the generation that the tests name', async () => {
    const { runtimeName, runtimeVersion } = await node.runtime.version({ version: 'v1' });
    expect([runtimeName, runtimeVersion.replace(/^v/, '').startsWith(`${release.version}.`)]).toEqual([
      'containerd',
      true,
    ]);
  });

  it('NODE-018 removes an image whose container runs, and the container goes on', async () => {
    const id = await node.runContainer(pod, 'localhost/app:1');
    await node.images.removeImage({ image: { image: 'localhost/app:1' } });
    expect([await node.imageNames(), await stateOf(id)]).toEqual([[PAUSE_IMAGE], 1]);
  });

  it(`NODE-018 removes a pinned image${release.pins ? '' : ', though it knows no pins'}`, async () => {
    await node.ctr('images', 'label', 'localhost/app:1', 'io.cri-containerd.pinned=pinned');
    const pinned = async (): Promise<boolean> =>
      (await node.images.imageStatus({ image: { image: 'localhost/app:1' } })).image?.pinned === true;
    if (release.pins) await until('the image is pinned', pinned);
    else expect(await pinned()).toBe(false);
    await node.images.removeImage({ image: { image: 'localhost/app:1' } });
    expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
  });

  it('NODE-018, 227 removes every tag of an image with the one that it is asked to remove', async () => {
    await node.ctr('images', 'tag', 'localhost/app:1', 'localhost/other:9');
    await until('the image has both names', async () => (await node.imageNames()).length >= 3);
    expect(await node.imageNames()).toEqual(['localhost/app:1', PAUSE_IMAGE, 'localhost/other:9']);
    await node.images.removeImage({ image: { image: 'localhost/other:9' } });
    expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
  });

  it('NODE-018 kills a running container that it is asked to remove, and leaves its log', async () => {
    const id = await node.runContainer(pod, 'localhost/app:1', {
      command: ['/bin/sh', '-c', 'echo hello; sleep 1000'],
    });
    const log = join(pod.logDirectory, 'app', '0.log');
    await until('the container writes its log', async () =>
      (await readFile(log, 'utf8').catch(() => '')).includes('hello'),
    );
    await node.runtime.removeContainer({ containerId: id });
    expect(await node.containerIds()).toEqual([]);
    expect(await readFile(log, 'utf8')).toContain('hello');
  });

  it('NODE-018 removes dead containers with their sandbox, and leaves their logs', async () => {
    const id = await node.runContainer(pod, 'localhost/app:1', { command: ['/bin/echo', 'hello'] });
    await node.untilExited(id);
    await node.runtime.stopPodSandbox({ podSandboxId: pod.sandboxId });
    await node.runtime.removePodSandbox({ podSandboxId: pod.sandboxId });
    expect(await node.containerIds()).toEqual([]);
    await access(join(pod.logDirectory, 'app', '0.log'));
  });

  it('NODE-018 starts a created container whose image was removed, but creates none', async () => {
    const id = await node.runContainer(pod, 'localhost/app:1', { start: false });
    await node.images.removeImage({ image: { image: 'localhost/app:1' } });
    await node.runtime.startContainer({ containerId: id });
    expect(await stateOf(id)).toBe(1);
    await expect(node.runContainer(pod, 'localhost/app:1', { name: 'late' })).rejects.toThrow(/not found/);
  });
});
