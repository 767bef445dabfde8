import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContainerdContent } from './containerd-content.ts';
import { deadPieces } from './dead-content.ts';

const nothing: ContainerdContent = { blobs: [], snapshots: [], images: [], containers: [], leases: [] };
const blob = (digest: string, labels: Record<string, string> = {}) => ({ digest, size: 10n, labels });
const snapshot = (name: string, parent = '', labels: Record<string, string> = {}) => ({
  snapshotter: 'overlayfs',
  name,
  parent,
  labels,
  committed: true,
  size: 100n,
});
const image = (target: string, labels: Record<string, string> = {}) => ({ name: 'a:1', target, labels, writtenAt: 0n });
const container = (snapshotKey: string) => ({ id: 'c', labels: {}, snapshotter: 'overlayfs', snapshotKey });
const dead = (content: Partial<ContainerdContent>): string[] =>
  deadPieces({ ...nothing, ...content }).map(
    ({ kind, name, bytes, keptBy }) => `${kind} ${name} ${bytes}${keptBy === undefined ? '' : ` by ${keptBy}`}`,
  );

describe('dead snapshots and blobs', () => {
  const blobs = [
    blob('manifest', { 'containerd.io/gc.ref.content.config': 'config', 'containerd.io/gc.ref.content.l.0': 'layer' }),
    blob('config', { 'containerd.io/gc.ref.snapshot.overlayfs': 'top' }),
    blob('layer'),
  ];
  const snapshots = [snapshot('top', 'base'), snapshot('base')];

  it('NODE-220 explains every piece of an image: its manifest, configuration, layers, and the chain of its snapshots', () => {
    expect(dead({ blobs, snapshots, images: [image('manifest')] })).toEqual([]);
    expect(dead({ blobs, snapshots })).toEqual([
      'snapshot top 100',
      'snapshot base 100',
      'blob manifest 10',
      'blob config 10',
      'blob layer 10',
    ]);
  });

  it('NODE-220 explains the snapshot of a container with those below it, and what a record of an image labels', () => {
    expect(
      dead({ snapshots: [snapshot('writable', 'top'), ...snapshots], containers: [container('writable')] }),
    ).toEqual([]);
    expect(
      dead({ blobs: [blob('note')], images: [image('gone', { 'containerd.io/gc.ref.content': 'note' })] }),
    ).toEqual([]);
  });

  it('NODE-220 explains what a lease holds, and follows its labels unless the lease is flat', () => {
    const lease = (labels: Record<string, string>) => ({
      id: 'l',
      labels,
      resources: [
        { type: 'content', id: 'config' },
        { type: 'ingests', id: 'coming' },
      ],
    });
    expect(dead({ blobs, snapshots, leases: [lease({})] })).toEqual(['blob manifest 10', 'blob layer 10']);
    expect(dead({ blobs, snapshots, leases: [lease({ 'containerd.io/gc.flat': '1' })] })).toEqual([
      'snapshot top 100',
      'snapshot base 100',
      'blob manifest 10',
      'blob layer 10',
    ]);
    const unpacking = { id: 'l', labels: {}, resources: [{ type: 'snapshots/overlayfs', id: 'top' }] };
    expect(dead({ snapshots, leases: [unpacking] })).toEqual([]);
  });

  it('NODE-220 names the label that keeps a piece for ever, which explains nothing', () => {
    expect(dead({ snapshots: [snapshot('left', '', { 'containerd.io/gc.root': '2026-01-01T00:00:00Z' })] })).toEqual([
      'snapshot left 100 by containerd.io/gc.root',
    ]);
    expect(dead({ snapshots: [snapshot('kept', '', { 'containerd.io/gc.bref.image.1': 'a:1' })] })).toEqual([]);
  });

  it('NODE-220 distinguishes snapshots of one name in two snapshotters', () => {
    const other = { ...snapshot('writable'), snapshotter: 'native' };
    expect(dead({ snapshots: [snapshot('writable'), other], containers: [container('writable')] })).toEqual([
      'snapshot writable 100',
    ]);
  });

  it('NODE-220 reports a piece exactly when no path leads to it, in any graph, also one with circles', () => {
    const node = fc.nat(7);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(node, node), { maxLength: 16 }),
        fc.array(node, { maxLength: 3 }),
        (edges, roots) => {
          const labelsOf = (from: number) =>
            Object.fromEntries(
              edges.flatMap(([a, b], n) => (a === from ? [[`containerd.io/gc.ref.content.${n}`, `b${b}`]] : [])),
            );
          const all = Array.from({ length: 8 }, (_, n) => blob(`b${n}`, labelsOf(n)));
          const reached = new Set(roots);
          for (const from of reached) for (const [a, b] of edges) if (a === from) reached.add(b);
          const found = deadPieces({ ...nothing, blobs: all, images: roots.map((root) => image(`b${root}`)) });
          expect(found.map(({ name }) => name)).toEqual(
            Array.from({ length: 8 }, (_, n) => n)
              .filter((n) => !reached.has(n))
              .map((n) => `b${n}`),
          );
        },
      ),
    );
  });
});
