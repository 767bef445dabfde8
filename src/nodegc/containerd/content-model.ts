import { SharedBytes } from '../images/shared-bytes.ts';
import type { Blob, ImageContent } from './containerd-content.ts';
import { gcReferences } from './gc-labels.ts';

/** An image record that containerd keeps but the runtime interface does not show: nobody can remove it by name (NODE-229). */
export interface StrandedImageRecord {
  readonly name: string;
  /** Bytes that become free when the record is removed. */
  readonly bytes: bigint;
}

export interface ContentModel {
  readonly shared: SharedBytes;
  readonly stranded: readonly StrandedImageRecord[];
}

/** Digests of the blob itself and of all blobs that it refers to, directly or through others. */
function closure(target: string, blobs: ReadonlyMap<string, Blob>): string[] {
  const seen = new Set<string>([target]);
  for (const digest of seen) {
    for (const each of gcReferences(blobs.get(digest)?.labels ?? {})) if (each.kind === 'blob') seen.add(each.digest);
  }
  return [...seen].filter((digest) => blobs.has(digest));
}

/**
 * Finds out which layers and blobs each image holds (NODE-202), from the labels by which containerd itself decides what is garbage.
 * @param listed ids of the images that the runtime interface shows: digests of their configurations
 */
export function modelContent(content: ImageContent, listed: ReadonlySet<string>): ContentModel {
  const blobs = new Map(content.blobs.map((blob) => [blob.digest, blob]));
  const snapshots = new Map(content.snapshots.map((each) => [each.name, each]));
  const sizes = new Map<string, bigint>();
  for (const { digest, size } of content.blobs) sizes.set(`blob:${digest}`, size);
  for (const { name, size } of content.snapshots) sizes.set(`snapshot:${name}`, size);
  const chain = (top: string): string[] => {
    const names = new Set<string>();
    for (let name = top; snapshots.has(name) && !names.has(name); name = snapshots.get(name)!.parent) names.add(name);
    return [...names].map((name) => `snapshot:${name}`);
  };

  const pieces = new Map<string, Set<string>>();
  const strandedNames: string[] = [];
  for (const { name, target } of content.images) {
    const digests = closure(target, blobs);
    const held = [
      ...digests.map((digest) => `blob:${digest}`),
      ...digests.flatMap((digest) =>
        gcReferences(blobs.get(digest)?.labels ?? {}).flatMap((each) =>
          each.kind === 'snapshot' ? chain(each.key) : [],
        ),
      ),
    ];
    const owner = digests.find((digest) => listed.has(digest));
    if (owner === undefined && name.startsWith('sha256:')) strandedNames.push(name);
    const key = owner ?? `record ${name}`;
    const known = pieces.get(key) ?? new Set<string>();
    for (const piece of held) known.add(piece);
    pieces.set(key, known);
  }
  // The writable layer of a container needs the layers of its image below it.
  for (const { name, parent, committed } of content.snapshots) {
    if (!committed && parent !== '') pieces.set(`active ${name}`, new Set(chain(parent)));
  }
  const shared = new SharedBytes(new Map([...pieces].map(([key, held]) => [key, [...held]])), sizes);
  return { shared, stranded: strandedNames.map((name) => ({ name, bytes: shared.own(`record ${name}`) })) };
}
