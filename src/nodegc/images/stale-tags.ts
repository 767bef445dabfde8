import { imageKey } from '../inventory/image-inventory.ts';
import type { ImageRecord, Inventory } from '../inventory/image-records.ts';
import { meansTag } from './protection.ts';
import type { ImageLabels } from '../patterns/image-labels.ts';
import type { ProtectPattern } from '../patterns/protect-pattern.ts';

/** A tag that nobody uses, of an image that is in use under another name (NODE-226). */
export interface StaleTag {
  readonly tag: string;
  readonly imageId: string;
  /** The names that the image keeps. */
  readonly stays: readonly string[];
}

export interface StaleTagFacts {
  readonly inventory: Inventory;
  /** References in the specs of pods of this node that are not finished. */
  readonly podImages: ReadonlySet<string>;
  readonly protect: readonly ProtectPattern[];
  /** Labels of images, by id. An image without an entry has labels that cannot be read. */
  readonly labels: ReadonlyMap<string, ImageLabels>;
  readonly sandboxImage: string | undefined;
  /** Time at which the runtime wrote the record of each tag, in nanoseconds since the epoch. */
  readonly writtenAt: ReadonlyMap<string, bigint>;
  readonly now: bigint;
  /** A tag younger than this stays: a pod may be about to start with it. */
  readonly minimumAge: bigint;
}

/**
 * Finds tags that may be removed while their image stays. This needs two facts: every container that uses the image reports the reference
 * that started it, and one of these references means a tag that stays. Otherwise all tags stay.
 */
export function staleTags(facts: StaleTagFacts): StaleTag[] {
  return [...facts.inventory.values()].flatMap((record) => staleTagsOf(record, facts));
}

function staleTagsOf(record: ImageRecord, facts: StaleTagFacts): StaleTag[] {
  const { image, users, key } = record;
  const { podImages, protect, labels, sandboxImage, writtenAt, now, minimumAge } = facts;
  if (image.tags.length < 2 || users.length === 0 || image.pinned) return [];
  const told = users.every((user) => user.reference !== '' && imageKey(user.imageId, user.runtimeHandler) === key);
  if (!told) return [];
  const references = [...users.map(({ reference }) => reference), ...podImages];
  if (sandboxImage !== undefined) references.push(sandboxImage);
  const inUse = image.tags.filter((tag) => references.some((reference) => meansTag(reference, tag)));
  if (inUse.length === 0) return [];
  const mayGo = (tag: string): boolean => {
    const written = writtenAt.get(tag);
    return (
      !inUse.includes(tag) &&
      written !== undefined &&
      now - written >= minimumAge &&
      !protect.some((pattern) => pattern.matches({ ...image, tags: [tag], digests: [] }, labels.get(image.id)))
    );
  };
  const stale = image.tags.filter(mayGo);
  const stays = [...image.tags.filter((tag) => !stale.includes(tag)), ...image.digests];
  return stale.map((tag) => ({ tag, imageId: image.id, stays }));
}
