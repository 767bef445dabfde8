import { describe, expect, it } from 'vitest';
import { modelContent } from './content-model.ts';

describe('modelContent', () => {
  it('NODE-202 counts every piece that a label of a blob refers to, with a dot or a slash before the name of the reference', () => {
    const blobs = [
      {
        digest: 'manifest',
        size: 1n,
        labels: { 'containerd.io/gc.ref.content.config': 'config', 'containerd.io/gc.ref.content/l.0': 'layer' },
      },
      { digest: 'config', size: 10n, labels: { 'containerd.io/gc.ref.snapshot.overlayfs/2': 'top' } },
      { digest: 'layer', size: 100n, labels: {} },
      { digest: 'other', size: 1000n, labels: { 'containerd.io/gc.ref.contents': 'config' } },
    ];
    const snapshots = ['top', 'base'].map((name) => ({
      snapshotter: 'overlayfs',
      name,
      parent: name === 'top' ? 'base' : '',
      labels: {},
      committed: true,
      size: 10_000n,
    }));
    const images = ['manifest', 'other'].map((target) => ({ name: target, target, labels: {}, writtenAt: 0n }));
    const { shared } = modelContent({ blobs, snapshots, images }, new Set(['config', 'other']));
    expect([shared.own('config'), shared.own('other')]).toEqual([20_111n, 1000n]);
  });
});
