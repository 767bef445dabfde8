import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/time/clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { run } from '../../src/cli/program.ts';
import { defaultConfiguration, type NodeConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { NodeCollection, type NodeCollectionOptions } from '../../src/nodegc/daemon/node-collection.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';

const MIB = 1 << 20;
const MILLISECOND = 1_000_000n;

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

async function kubegc(node: ContainerdProcess, ...args: readonly string[]) {
  let [out, err] = ['', ''];
  const terminal = {
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    columns: 120,
  };
  const own = ['--container-runtime-endpoint', node.endpoint, '--state-file', join(node.directory, 'state.json')];
  const code = await run(['node', ...args, ...own], terminal);
  return { code, out, err };
}

describe.each(containerdReleases)('a pass that is disturbed, on containerd $version', (release) => {
  let node: ContainerdProcess;

  beforeAll(async () => {
    node = await ContainerdProcess.start(release, 96);
  });
  afterAll(async () => {
    await node?.close();
  });

  const importMany = async (repository: string, count: number, size = MIB): Promise<void> =>
    await node.import(
      Array.from({ length: count }, (_, index) => ({
        name: `localhost/${repository}:${index}`,
        layers: [node.busybox, fillerLayer(size)],
      })),
    );

  it('NODE-229 finds a record that the runtime keeps and does not show, says how to repair it, and repairs it by hand', async () => {
    // An image whose configuration is torn is one way to such a record: the runtime cannot read it, and containerd keeps it.
    const name = await node.importStranded({
      name: 'localhost/stranded:1',
      layers: [fillerLayer(3 * MIB)],
      brokenConfig: '"torn"',
    });
    expect((await node.images.listImages({})).images.map(({ repoTags }) => repoTags)).toEqual([[PAUSE_IMAGE]]);

    const status = await kubegc(node, 'status', '--check');
    expect(status.code).toBe(2);
    expect(status.out).toContain('Finding StrandedImageRecord');
    expect(status.out).toContain(name);
    expect(status.out).toContain('kubegc node repair --stranded --confirm');
    const plan = JSON.parse((await kubegc(node, 'plan', '-o', 'json')).out) as { findings: { bytes: number }[] };
    expect(plan.findings).toEqual([{ kind: 'StrandedImageRecord', name, bytes: expect.any(Number) }]);
    expect(plan.findings[0]!.bytes).toBeGreaterThan(3 * MIB);
    // No collection takes it.
    expect((await kubegc(node, 'prune', '--confirm', '--minimum-image-ttl-duration', '1ms')).code).toBe(0);
    expect(await node.recordNames()).toContain(name);

    const refused = await kubegc(node, 'repair', '--stranded');
    expect([refused.code, await node.recordNames()]).toEqual([3, expect.arrayContaining([name])]);
    const repaired = await kubegc(node, 'repair', '--stranded', '--confirm');
    expect(repaired).toMatchObject({ code: 0, err: '' });
    expect(repaired.out).toContain('Removed 1 stranded image record.');
    expect(await node.recordNames()).not.toContain(name);
    expect((await kubegc(node, 'repair', '--stranded')).out).toBe('There are no stranded image records.\n');
  });

  it('NODE-065, 200 reaches its goal although others fill the disk during the pass', async () => {
    await importMany('fill/app', 8, 4 * MIB);
    const other = join(node.root, 'of-others');
    let written = 0;
    const collection = await open(
      node,
      { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 50, parallelRemovals: 1 },
      {
        onRemoval: () => {
          if (written++ < 2) void appendFile(other, Buffer.alloc(2 * MIB, 'x'));
        },
      },
    );
    try {
      const result = await collection.images.collect('garbageCollect');
      expect(result).toMatchObject({ outcome: 'success', error: undefined });
      // Bytes that others wrote count against those that came back.
      expect(result.measuredFreed!).toBeGreaterThanOrEqual(result.goal!);
      expect(result.estimatedFreed).toBeGreaterThan(result.measuredFreed!);
      expect(result.usagePercentAfter!).toBeLessThanOrEqual(50);
      expect(await node.imageNames()).toContain(PAUSE_IMAGE);
    } finally {
      collection.close();
      await rm(other, { force: true });
    }
  });

  it.each([-1, 1])('NODE-035, 066 removes the same images when the clock jumps by %i day in the pass', async (days) => {
    await importMany('jump/app', 3);
    let skew = 0;
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + skew,
      monotonic: () => systemClock.monotonic(),
    };
    const collection = await open(
      node,
      { parallelRemovals: 1 },
      { clock, onRemoval: () => (skew = days * 86_400_000) },
    );
    try {
      const result = await collection.images.collect('deleteUnused');
      expect(result).toMatchObject({ outcome: 'success', failed: [] });
      expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
      // An image that comes after the jump is new, whatever the clock says.
      await importMany('jump/new', 1);
      expect((await collection.images.detect()).size).toBe(2);
    } finally {
      collection.close();
    }
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'NODE-017, 019 ends with failures and no loss when the runtime gets %s and starts again in the pass, and the next pass ends it',
    async (signal) => {
      await importMany('again/app', 8);
      let restarted: Promise<void> | undefined;
      const collection = await open(
        node,
        { parallelRemovals: 1 },
        {
          onRemoval: () => {
            restarted ??= node.stop(signal).then(() => node.startAgain());
          },
        },
      );
      try {
        const result = await collection.images.collect('deleteUnused').catch((error: Error) => error);
        await restarted;
        expect(await node.imageNames()).toContain(PAUSE_IMAGE);
        if (!(result instanceof Error)) expect(result.failed.length + result.removed.length).toBeGreaterThan(0);
        // The same process goes on with the runtime that is there now.
        const second = await collection.images.collect('deleteUnused');
        const left = await node.imageNames();
        // One whose removal failed waits its minute (NODE-216).
        expect(left.length).toBeLessThanOrEqual(
          1 + second.skipped.filter(({ reason }) => reason === 'retryLater').length,
        );
      } finally {
        collection.close();
      }
      const next = await open(node);
      try {
        await next.images.collect('deleteUnused');
        expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
      } finally {
        next.close();
      }
    },
  );
});
