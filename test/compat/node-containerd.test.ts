import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { run } from '../../src/cli/program.ts';
import { defaultConfiguration, type NodeConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { NodeCollection, type NodeCollectionOptions } from '../../src/nodegc/daemon/node-collection.ts';
import { type KnownPod } from '../../src/nodegc/pods/pod-verdicts.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';
import { until } from '../program/until.ts';

const MIB = 1 << 20;
const DISK_MIB = 96;
const MILLISECOND = 1_000_000n;

const known = (uid: string, phase = 'Running'): KnownPod => ({
  uid,
  mirrorOf: undefined,
  phase,
  reason: '',
  deleted: false,
  images: [],
});

async function open(
  node: ContainerdProcess,
  settings: Partial<NodeConfiguration> = {},
  more: Partial<NodeCollectionOptions> = {},
): Promise<NodeCollection> {
  return await NodeCollection.open({
    configuration: {
      ...defaultConfiguration,
      containerRuntimeEndpoint: node.endpoint,
      podLogsDir: node.podLogsDir,
      containerLogsDir: node.containerLogsDir,
      imageMinimumGCAge: MILLISECOND,
      protectRecent: MILLISECOND,
      stateFile: join(node.directory, 'state.json'),
      ...settings,
    },
    clock: systemClock,
    logger: silentLogger,
    remember: false,
    unknownImages: 'asRecorded',
    ...more,
  });
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as a person types it, in this process. */
async function kubegc(node: ContainerdProcess, ...args: readonly string[]): Promise<Said> {
  let [out, err] = ['', ''];
  const terminal = {
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    columns: 120,
  };
  const own = [
    '--container-runtime-endpoint',
    node.endpoint,
    '--minimum-image-ttl-duration',
    '1ms',
    '--state-file',
    join(node.directory, 'state.json'),
  ];
  const code = await run(['node', ...args, ...own], terminal);
  return { code, out, err };
}

describe.each(containerdReleases)('node collection on containerd $version', (release) => {
  let node: ContainerdProcess;

  beforeAll(async () => {
    node = await ContainerdProcess.start(release, DISK_MIB);
  });
  afterAll(async () => {
    await node?.close();
  });

  /** Removes whatever an earlier test left, but the image of sandboxes. */
  async function empty(): Promise<void> {
    for (const { id: podSandboxId } of (await node.runtime.listPodSandbox({})).items) {
      await node.runtime.stopPodSandbox({ podSandboxId });
      await node.runtime.removePodSandbox({ podSandboxId });
    }
    for (const { id, repoTags } of (await node.images.listImages({})).images) {
      if (!repoTags.includes(PAUSE_IMAGE)) await node.images.removeImage({ image: { image: id } });
    }
  }

  it('NODE-010, 073, 200, 201, 202 frees a small disk that is full, to the low threshold and no further, by exact sizes', async () => {
    await empty();
    const fillers = Array.from({ length: 9 }, (_, index) => ({
      name: `localhost/team/app:${index}`,
      layers: [node.busybox, fillerLayer(4 * MIB)],
    }));
    await node.import(fillers);
    const pod = await node.runPod('web-0');
    await node.runContainer(pod, 'localhost/team/app:0');
    const dead = await node.runContainer(pod, 'localhost/team/app:1', { name: 'job', command: ['/bin/true'] });
    await node.untilExited(dead);

    // Each filler is there twice: as a blob and as a layer.
    const collection = await open(node, { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60 });
    try {
      const before = await collection.images.plan('garbageCollect');
      expect(before.result.goal).toBeGreaterThan(0n);
      expect(before.result.removed.every(({ exact }) => exact)).toBe(true);
      const result = await collection.images.collect('garbageCollect');
      expect(result).toMatchObject({ outcome: 'success', error: undefined });
      expect(result.removed.map(({ record }) => record.key)).toEqual(
        before.result.removed.map(({ record }) => record.key),
      );
      const last = result.removed.at(-1)!;
      const measured = result.measuredFreed!;
      expect(measured).toBeGreaterThanOrEqual(result.goal!);
      expect(measured - last.bytes).toBeLessThan(result.goal!);
      const difference = Number(measured - result.estimatedFreed) / Number(measured);
      expect(Math.abs(difference)).toBeLessThan(0.02);
      expect(result.usagePercentAfter).toBeLessThanOrEqual(60);
      // Used by a running and by a dead container, and needed by sandboxes.
      expect(await node.imageNames()).toEqual(
        expect.arrayContaining([PAUSE_IMAGE, 'localhost/team/app:0', 'localhost/team/app:1']),
      );
    } finally {
      collection.close();
    }
  });

  it('NODE-072, 040, 041, 046 removes everything unused, but nothing pinned, in use or needed by sandboxes', async () => {
    await empty();
    await node.import(
      ['a', 'b', 'c'].map((tag) => ({ name: `localhost/team/one:${tag}`, layers: [node.busybox, fillerLayer(MIB)] })),
    );
    const pod = await node.runPod('web-1');
    await node.runContainer(pod, 'localhost/team/one:a', { start: false });
    const kept = [PAUSE_IMAGE, 'localhost/team/one:a'];
    if (release.pins) {
      await node.ctr('images', 'label', 'localhost/team/one:b', 'io.cri-containerd.pinned=pinned');
      kept.push('localhost/team/one:b');
    }
    const collection = await open(node);
    try {
      const info = await collection.runtime.info();
      const pinned = (await collection.runtime.listImages())
        .filter((image) => image.pinned)
        .flatMap(({ tags }) => tags);
      expect(release.pins ? pinned : [info.sandboxImage]).toContain(PAUSE_IMAGE);
      await collection.images.collect('deleteUnused');
      expect(await node.imageNames()).toEqual(kept.toSorted());
    } finally {
      collection.close();
    }
  });

  it('NODE-200 removes fewer images than the arithmetic of the kubelet, which counts compressed layers', async () => {
    await empty();
    await node.import(
      Array.from({ length: 8 }, (_, index) => ({
        name: `localhost/team/gz:${index}`,
        layers: [node.busybox, fillerLayer(6 * MIB, true)],
      })),
    );
    const settings = { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 50 } as const;
    const kubelet = await open(node, { ...settings, accounting: 'kubelet' });
    const measured = await open(node, settings);
    try {
      const [theirs, ours] = [
        await kubelet.images.plan('garbageCollect'),
        await measured.images.plan('garbageCollect'),
      ];
      // The runtime writes a little of its own meanwhile.
      expect(Math.abs(Number(theirs.result.goal! - ours.result.goal!))).toBeLessThan(MIB);
      expect(ours.result.removed.length).toBeGreaterThan(0);
      expect(theirs.result.removed.length).toBeGreaterThan(ours.result.removed.length);
      expect((await measured.images.collect('garbageCollect')).outcome).toBe('success');
    } finally {
      kubelet.close();
      measured.close();
    }
  });

  it('NODE-081 to NODE-097, NODE-084, 089, 091, 094, 096 removes dead containers, sandboxes, logs and dead links by the rules', async () => {
    await empty();
    await node.import([{ name: 'localhost/team/app:1', layers: [node.busybox, fillerLayer(MIB)] }]);
    const alive = await node.runPod('alive');
    const ids: string[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const id = await node.runContainer(alive, 'localhost/team/app:1', { attempt, command: ['/bin/echo', 'hello'] });
      await node.untilExited(id);
      ids.push(id);
    }
    const running = await node.runContainer(alive, 'localhost/team/app:1', { name: 'side' });
    const gone = await node.runPod('gone');
    const orphan = await node.runContainer(gone, 'localhost/team/app:1', { command: ['/bin/true'] });
    await node.untilExited(orphan);
    await node.runtime.stopPodSandbox({ podSandboxId: gone.sandboxId });
    const rotated = join(alive.logDirectory, 'app', '0.log.20260101-000000');
    await writeFile(rotated, 'old');
    const link = join(node.containerLogsDir, `alive_default_app-${ids[0]}.log`);
    await symlink(join(alive.logDirectory, 'app', '0.log'), link);
    await symlink('/nowhere', join(node.containerLogsDir, `alive_default_side-${running}.log`));
    await symlink('/nowhere', join(node.containerLogsDir, `x_default_y-${'0'.repeat(64)}.log`));
    await mkdir(join(node.podLogsDir, 'notes'), { recursive: true });

    const collection = await open(node, {}, { knownPods: () => [known(alive.uid)] });
    try {
      const result = await collection.containers.collect();
      expect([result.error, result.left]).toEqual([undefined, []]);
    } finally {
      collection.close();
    }
    expect(await node.containerIds()).toEqual([ids[2], running].toSorted());
    expect((await readdir(join(alive.logDirectory, 'app'))).toSorted()).toEqual(['2.log']);
    expect((await readdir(node.podLogsDir)).toSorted()).toEqual([`default_alive_${alive.uid}`, 'notes']);
    expect(await readdir(node.containerLogsDir)).toEqual([`alive_default_side-${running}.log`]);
    expect((await node.runtime.listPodSandbox({})).items.map(({ id }) => id)).toEqual([alive.sandboxId]);
  });

  it('NODE-016 takes the removal of what is not there for done', async () => {
    const collection = await open(node);
    try {
      const { runtime } = collection;
      await runtime.removeImage('localhost/no/such:1', '');
      await runtime.removeContainer('no-such');
      await runtime.stopContainer('no-such', 0);
      await runtime.stopSandbox('no-such');
      await runtime.removeSandbox('no-such');
      expect([await runtime.containerStatus('no-such'), await runtime.imageStatus('localhost/no/such:1')]).toEqual([
        undefined,
        undefined,
      ]);
    } finally {
      collection.close();
    }
  });

  it('NODE-225, 227 plans, explains, shows and prunes by hand, with exit codes', async () => {
    await empty();
    await node.import(
      ['1', '2'].map((tag) => ({ name: `localhost/hand/app:${tag}`, layers: [node.busybox, fillerLayer(MIB)] })),
    );
    await node.ctr('images', 'tag', 'localhost/hand/app:1', 'localhost/other/name:9');
    await until('the second name is listed', async () => (await node.imageNames()).includes('localhost/other/name:9'));

    const why = await kubegc(node, 'why', 'localhost/hand/app:2', '--protect', 'localhost/hand/*:2');
    expect([why.code, why.err]).toEqual([0, '']);
    expect(why.out).toContain('localhost/hand/app:2 stays: the protect list has "localhost/hand/*:2" (protectList)');
    const unknown = await kubegc(node, 'why', 'localhost/no/such:1');
    expect([unknown.code, unknown.err.split('\n')[0]]).toEqual([
      1,
      'error: no image on this node is "localhost/no/such:1"',
    ]);

    const json = await kubegc(node, 'plan', '-o', 'json');
    expect(JSON.parse(json.out)).toMatchObject({
      apiVersion: 'node.kubegc/v1alpha1',
      kind: 'NodePlan',
      runtime: { name: 'containerd' },
      remove: [],
    });
    const plan = await kubegc(node, 'plan');
    expect(plan.out).toMatch(/IMAGE +ID +OWN +SHARED +RULE +WHY/);

    const refused = await kubegc(node, 'prune');
    expect([refused.code, refused.err]).toEqual([
      3,
      'Nothing was removed. Give --confirm to remove this, or --dry-run to only look.\n',
    ]);
    expect(refused.out).toContain('goes with all its tags: localhost/hand/app:1, localhost/other/name:9');
    expect((await kubegc(node, 'prune', '--dry-run')).code).toBe(0);
    expect((await node.imageNames()).length).toBe(4);

    const pruned = await kubegc(node, 'prune', '--confirm', '--protect', 'localhost/hand/app:2');
    expect([pruned.code, pruned.err]).toEqual([0, '']);
    expect(pruned.out).toMatch(/^removed localhost\/hand\/app:1 \+1\nRemoved 1 image; \d\.\d MiB came back\.\n$/);
    expect(await node.imageNames()).toEqual(['localhost/hand/app:2', PAUSE_IMAGE].toSorted());
    // Nothing is left to confirm.
    expect(await kubegc(node, 'prune', '--protect', 'localhost/hand/app:2')).toMatchObject({ code: 0, err: '' });

    const status = await kubegc(
      node,
      'status',
      '--check',
      '--image-gc-high-threshold',
      '1',
      '--image-gc-low-threshold',
      '0',
    );
    expect([status.code, status.out.includes('the disk is above the threshold')]).toEqual([2, true]);
  });

  it('NODE-212 protects images by the labels of their configurations, which other runtimes report in the status', async () => {
    await empty();
    const labelled = (tag: string, labels: Readonly<Record<string, string>>) => ({
      name: `localhost/labels/app:${tag}`,
      layers: [node.busybox, fillerLayer(MIB)],
      labels,
    });
    await node.import([
      labelled('db', { app: 'web', tier: 'db' }),
      labelled('front', { app: 'web', tier: 'front' }),
      labelled('none', {}),
    ]);
    const collection = await open(node);
    try {
      for (const { id, tags } of await collection.runtime.listImages()) {
        const labels = await collection.runtime.imageLabels(id);
        expect(labels).toMatchObject({ name: tags[0] });
      }
    } finally {
      collection.close();
    }
    const selector = 'label:app=web,tier in (db)';
    const why = await kubegc(node, 'why', 'localhost/labels/app:db', '--protect', selector);
    expect(why.out).toContain(`localhost/labels/app:db stays: the protect list has "${selector}" (protectList)`);
    const pruned = await kubegc(node, 'prune', '--confirm', '--protect', selector);
    expect([pruned.code, pruned.err]).toEqual([0, '']);
    expect(await node.imageNames()).toEqual(['localhost/labels/app:db', PAUSE_IMAGE].toSorted());
    const refused = await kubegc(node, 'prune', '--protect', 'label:app=');
    expect([refused.code, (await kubegc(node, 'prune', '--protect', 'label:')).code]).toEqual([3, 1]);
  });

  it('NODE-031 keeps an image that a container mounts as a volume, where the runtime can', async () => {
    await empty();
    await node.import(
      ['app', 'data'].map((name) => ({ name: `localhost/volume/${name}:1`, layers: [node.busybox, fillerLayer(MIB)] })),
    );
    const pod = await node.runPod('volumes');
    const create = node.runContainer(pod, 'localhost/volume/app:1', { volumes: ['localhost/volume/data:1'] });
    if (!release.version.startsWith('2.')) {
      await expect(create).rejects.toThrow();
      return;
    }
    await create;
    const collection = await open(node);
    try {
      await collection.images.collect('deleteUnused');
      expect(await node.imageNames()).toContain('localhost/volume/data:1');
    } finally {
      collection.close();
    }
  });

  it('NODE-019, 017 survives a runtime that is killed in the middle of a pass, and reaches the same end after', async () => {
    await empty();
    await node.import(
      Array.from({ length: 12 }, (_, index) => ({
        name: `localhost/kill/app:${index}`,
        layers: [node.busybox, fillerLayer(MIB)],
      })),
    );
    let removals = 0;
    const collection = await open(
      node,
      { parallelRemovals: 2 },
      {
        onRemoval: () => {
          if (++removals === 3) process.kill(node.pid, 'SIGKILL');
        },
      },
    );
    try {
      const result = await collection.images.collect('deleteUnused');
      expect(result.failed.length).toBeGreaterThan(0);
      expect(result.removed.length).toBeLessThan(12);
      await node.stop();
      await expect(collection.images.collect('deleteUnused')).rejects.toThrow();
      expect(collection.images.inventory.size).toBeGreaterThan(1);
      await node.startAgain();
    } finally {
      collection.close();
    }
    const again = await open(node);
    try {
      await again.images.collect('deleteUnused');
      expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
    } finally {
      again.close();
    }
  });
});
