/** Labels of a blob, snapshot, image, container or lease, by which containerd decides what is garbage. */
export type GcLabels = Readonly<Record<string, string>>;

/** A piece that a label refers to. */
export type GcReference =
  | { readonly kind: 'blob'; readonly digest: string }
  | { readonly kind: 'snapshot'; readonly snapshotter: string; readonly key: string };

/** A piece with this label stays for ever. */
export const ROOT_LABEL = 'containerd.io/gc.root';
/** A lease with this label holds its own resources, but not what their labels refer to. */
const FLAT_LABEL = 'containerd.io/gc.flat';
/** Prefix of labels that name an object which keeps the piece. */
const BACK_REFERENCE = 'containerd.io/gc.bref.';
/** A name may follow, because a label has only one value: `….content.config`, `….content/l.0`. */
const CONTENT_LABEL = /^containerd\.io\/gc\.ref\.content(?:[./]|$)/;
const SNAPSHOT_LABEL = /^containerd\.io\/gc\.ref\.snapshot\.([^./]+)/;

/** The blobs and snapshots that these labels refer to. */
export function gcReferences(labels: GcLabels): GcReference[] {
  return Object.entries(labels).flatMap(([label, value]): GcReference[] => {
    if (CONTENT_LABEL.test(label)) return [{ kind: 'blob', digest: value }];
    const snapshotter = SNAPSHOT_LABEL.exec(label)?.[1];
    return snapshotter === undefined ? [] : [{ kind: 'snapshot', snapshotter, key: value }];
  });
}

/** Whether a label names an object that keeps the piece. */
export function hasBackReference(labels: GcLabels): boolean {
  return Object.keys(labels).some((label) => label.startsWith(BACK_REFERENCE));
}

/** Whether a lease holds only its own resources. */
export function isFlat(labels: GcLabels): boolean {
  return labels[FLAT_LABEL] !== undefined;
}
