import type { RuntimeImage } from './runtime.ts';

/** An image as `status.images` of a Node lists it. */
export interface NodeStatusImage {
  readonly names: readonly string[];
  readonly sizeBytes: bigint;
}

/** The greatest number of names that the kubelet reports for one image. */
const MAX_NAMES = 5;

/**
 * The images that a kubelet would report in the status of its Node (NODE-134). The largest come first; among equal sizes, the greater id.
 * @param max as `nodeStatusMaxImages`: -1 means all
 */
export function nodeStatusImages(images: readonly RuntimeImage[], max: number): NodeStatusImage[] {
  const sorted = images.toSorted((a, b) => (a.size === b.size ? (a.id < b.id ? 1 : -1) : a.size < b.size ? 1 : -1));
  return (max < 0 ? sorted : sorted.slice(0, max)).map(({ digests, tags, size }) => ({
    names: [...digests, ...tags].slice(0, MAX_NAMES),
    sizeBytes: size,
  }));
}
