import type { ConnectRouter } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { runtimeOf } from '../cri/runtime.fixture.ts';
import { ContainerdReader } from './containerd-content.ts';
import { Containers } from './containers.generated.ts';
import { Content } from './content.generated.ts';
import { modelContent } from './content-model.ts';
import { Images } from './images.generated.ts';
import { Leases } from './leases.generated.ts';
import { Snapshots } from './snapshots.generated.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const MANIFEST = { digest: 'manifest', size: 1n, labels: { 'containerd.io/gc.ref.content.config': 'config' } };
const CONFIG = { digest: 'config', size: 2n, labels: { 'containerd.io/gc.ref.snapshot.overlayfs': 'top' } };

/** A containerd that keeps one image and one container. */
class SimulatedContainerd {
  readonly calls: string[] = [];
  readonly blobs = [MANIFEST, CONFIG];
  readonly images = ['team/app:1', 'sha256:config'].map((name) => ({ name, target: { digest: 'manifest' } }));
  /** Called before each answer, with the name of the call. */
  before: (call: string) => void = () => undefined;

  readonly routes = (router: ConnectRouter): void => {
    const called = (call: string): void => {
      this.before(call);
      this.calls.push(call);
    };
    const { blobs, images } = this;
    router.service(Images, { list: () => (called('images'), { images }) });
    router.service(Content, {
      async *list() {
        called('blobs');
        yield { info: blobs };
      },
    });
    router.service(Snapshots, {
      async *list({ snapshotter }) {
        called(`snapshots of ${snapshotter}`);
        yield { info: snapshotter === 'overlayfs' ? [{ name: 'top', kind: 3 }] : [{ name: 'writable', kind: 2 }] };
      },
      usage: ({ key }) => (called(`size of ${key}`), { size: 100n }),
    });
    router.service(Containers, {
      list: () => (called('containers'), { containers: [{ id: 'c', snapshotter: 'native', snapshotKey: 'writable' }] }),
    });
    router.service(Leases, {
      list: () => (called('leases'), { leases: [{ id: 'l' }] }),
      listResources: ({ id }) => (called(`resources of ${id}`), { resources: [] }),
    });
  };

  async connect(): Promise<ContainerdReader> {
    const { endpoint, close } = await runtimeOf(this.routes);
    const reader = new ContainerdReader({ endpoint, timeoutMs: 10_000 });
    closers.push(close, () => reader.close());
    return reader;
  }
}

describe('ContainerdReader', () => {
  it('NODE-202 reads images and then their pieces, and neither containers nor leases, for each pass over images', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await containerd.connect();
    const content = await reader.read();
    expect(containerd.calls.splice(0)).toEqual(['images', 'blobs', 'snapshots of overlayfs', 'size of top']);
    expect(modelContent(content!, new Set(['config'])).shared.own('config')).toBe(103n);
    await reader.read();
    expect(containerd.calls).toEqual(['images', 'blobs', 'snapshots of overlayfs']);
  });

  it('NODE-229 takes no image for stranded that is pulled while the pieces are read', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await containerd.connect();
    containerd.before = (call) => {
      if (call !== 'snapshots of overlayfs') return;
      containerd.blobs.push({ digest: 'new', size: 5n, labels: {} as (typeof MANIFEST)['labels'] });
      containerd.images.push({ name: 'sha256:new', target: { digest: 'new' } });
    };
    expect(modelContent((await reader.read())!, new Set(['config'])).stranded).toEqual([]);
  });

  it('NODE-220 reads pieces before their holders, and leases before images and containers, to find dead pieces', async () => {
    const containerd = new SimulatedContainerd();
    const reader = await containerd.connect();
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

  it('answers nothing for a runtime that is not containerd', async () => {
    const { endpoint, close } = await runtimeOf(() => undefined);
    const reader = new ContainerdReader({ endpoint, timeoutMs: 10_000 });
    closers.push(close, () => reader.close());
    expect([await reader.read(), await reader.readWithHolders(), await reader.readEntries()]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });
});
