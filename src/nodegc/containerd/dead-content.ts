import type { ContainerdContent } from './containerd-content.ts';
import { type GcLabels, gcReferences, hasBackReference, isFlat, ROOT_LABEL } from './gc-labels.ts';

/** A snapshot or blob that containerd keeps although no image, container or lease needs it (NODE-220). */
export interface DeadPiece {
  readonly kind: 'snapshot' | 'blob';
  /** Empty for a blob. */
  readonly snapshotter: string;
  /** Key of the snapshot, or digest of the blob. */
  readonly name: string;
  /** Bytes that become free when it is removed. 0 for a writable snapshot: its size is read when it is reported. */
  readonly bytes: bigint;
  /** The label that keeps containerd from collecting the piece. Undefined: containerd collects it sooner or later. */
  readonly keptBy: string | undefined;
}

const blobId = (digest: string): string => `blob ${digest}`;
const snapshotId = (snapshotter: string, key: string): string => `snapshot ${snapshotter} ${key}`;

function labelledIds(labels: GcLabels): string[] {
  return gcReferences(labels).map((each) =>
    each.kind === 'blob' ? blobId(each.digest) : snapshotId(each.snapshotter, each.key),
  );
}

function leasedId({ type, id }: { readonly type: string; readonly id: string }): string {
  return type === 'content' ? blobId(id) : snapshotId(type.replace(/^snapshots\//, ''), id);
}

/**
 * Finds the pieces that no image, container or lease needs, by the labels by which containerd itself decides. The label `gc.root` does not
 * count as a need: it keeps a piece for ever, and its creator may no longer exist.
 */
export function deadPieces(content: ContainerdContent): DeadPiece[] {
  const { blobs, snapshots, images, containers, leases } = content;
  const labels = new Map<string, GcLabels>();
  const parents = new Map<string, string>();
  for (const each of blobs) labels.set(blobId(each.digest), each.labels);
  for (const { snapshotter, name, parent, labels: own } of snapshots) {
    const id = snapshotId(snapshotter, name);
    labels.set(id, own);
    if (parent !== '') parents.set(id, snapshotId(snapshotter, parent));
  }
  const explained = new Set<string>();
  const reach = (ids: Iterable<string>, followLabels: boolean): void => {
    const reached = new Set(ids);
    for (const id of reached) {
      explained.add(id);
      const parent = parents.get(id);
      if (parent !== undefined) reached.add(parent);
      if (followLabels) for (const next of labelledIds(labels.get(id) ?? {})) reached.add(next);
    }
  };
  const backReferenced = [...labels].flatMap(([id, own]) => (hasBackReference(own) ? [id] : []));
  const held = [
    ...images.flatMap((image) => [blobId(image.target), ...labelledIds(image.labels)]),
    ...containers.flatMap((each) => [snapshotId(each.snapshotter, each.snapshotKey), ...labelledIds(each.labels)]),
    ...backReferenced,
  ];
  reach(held, true);
  for (const lease of leases) reach(lease.resources.map(leasedId), !isFlat(lease.labels));

  const keptBy = (own: GcLabels): string | undefined => (own[ROOT_LABEL] === undefined ? undefined : ROOT_LABEL);
  return [
    ...snapshots.flatMap(({ snapshotter, name, size, labels: own }): DeadPiece[] =>
      explained.has(snapshotId(snapshotter, name))
        ? []
        : [{ kind: 'snapshot', snapshotter, name, bytes: size, keptBy: keptBy(own) }],
    ),
    ...blobs.flatMap(({ digest, size, labels: own }): DeadPiece[] =>
      explained.has(blobId(digest))
        ? []
        : [{ kind: 'blob', snapshotter: '', name: digest, bytes: size, keptBy: keptBy(own) }],
    ),
  ];
}
