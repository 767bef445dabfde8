import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { runtimeOf } from '../cri/runtime.fixture.ts';
import { ContainerdReader } from './containerd-content.ts';
import { SimulatedContainerd } from './containerd.fixture.ts';
import { modelContent } from './content-model.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A reader of this containerd, closed after the test. */
async function connect(containerd: SimulatedContainerd): Promise<ContainerdReader> {
  const { endpoint, close } = await runtimeOf(containerd.routes);
  const reader = new ContainerdReader({ endpoint, timeoutMs: 10_000 });
  closers.push(close, () => reader.close());
  return reader;
}

describe('ContainerdReader', () => {
  it('NODE-202 reads images and then their pieces, and neither containers nor leases, for each pass over images', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await connect(containerd);
    const content = await reader.read();
    expect(containerd.calls.splice(0)).toEqual(['images', 'blobs', 'snapshots of overlayfs', 'size of top']);
    expect(modelContent(content!, new Set(['config'])).shared.own('config')).toBe(103n);
    await reader.read();
    expect(containerd.calls).toEqual(['images', 'blobs', 'snapshots of overlayfs']);
  });

  it('NODE-229 takes no image for stranded that is pulled while the pieces are read', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await connect(containerd);
    containerd.before = (call) => {
      if (call !== 'snapshots of overlayfs') return;
      containerd.blobs.push({ digest: 'new', size: 5n, labels: {} });
      containerd.images.push({ name: 'sha256:new', target: { digest: 'new' } });
    };
    expect(modelContent((await reader.read())!, new Set(['config'])).stranded).toEqual([]);
  });

  it('NODE-220 reads pieces before their holders, and leases before images and containers, to find dead pieces', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await connect(containerd);
    const content = await reader.readWithHolders();
    expect(containerd.calls).toEqual([
      'blobs',
      'containers',
      'snapshots of overlayfs',
      'size of top',
      'snapshots of native',
      'leases',
      'resources of l',
      'images',
      'containers',
    ]);
    expect(content?.snapshots.map(({ name, snapshotter, size }) => [name, snapshotter, size])).toEqual([
      ['top', 'overlayfs', 100n],
      ['writable', 'native', 0n],
    ]);
  });

  it('NODE-212 reads the labels of an image from its configuration, however many pieces that has', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await connect(containerd);
    containerd.contents.set('config', ['{"config":{"Lab', 'els":{"app":"wéb"}}}']);
    containerd.contents.set('layer', ['\u001f\u008b']);
    containerd.contents.set('large', ['{"config":{', ' '.repeat(2 << 20), ' '.repeat(2 << 20), '}}']);
    expect(await reader.readLabels('config')).toEqual({ app: 'wéb' });
    expect([
      await reader.readLabels('layer'),
      await reader.readLabels('large'),
      await reader.readLabels('none'),
    ]).toEqual([undefined, undefined, undefined]);
    containerd.before = () => {
      throw new ConnectError('disk failed', Code.Internal);
    };
    await expect(reader.readLabels('config')).rejects.toThrow('disk failed');
  });

  it('answers nothing for a runtime that is not containerd', async () => {
    const { endpoint, close } = await runtimeOf(() => undefined);
    const reader = new ContainerdReader({ endpoint, timeoutMs: 10_000 });
    closers.push(close, () => reader.close());
    expect([
      await reader.read(),
      await reader.readWithHolders(),
      await reader.readEntries(),
      await reader.readLabels('config'),
    ]).toEqual([undefined, undefined, [], undefined]);
  });
});
