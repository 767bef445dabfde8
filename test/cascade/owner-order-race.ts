import type { KubeObject } from '../../src/api/meta/object-meta.ts';

export interface Removed {
  /** uids that go in the preview. */
  readonly removed: Pick<ReadonlySet<string>, 'has'>;
  /** uids in the order in which they really went; undefined where nobody knows it. */
  readonly removals: readonly string[] | undefined;
  /** uids that wait for their dependents in the foreground: to a dependent they are as good as gone from then on. */
  readonly waited: ReadonlySet<string>;
}

/**
 * Returns whether two states of a dependent differ only because its owners were deleted one after the other. A collector that processes the
 * dependent between these two deletions removes the reference to the first owner, because the second one exists. A collector that processes
 * it later deletes it with all its references. Both are right. If a finalizer holds the dependent, its remaining references show which of
 * them it was.
 *
 * Nothing else may differ, and a reference to the owner that was deleted last stays in any order, unless that owner waited for its
 * dependents before.
 */
export function isOwnerOrderRace(
  previewed: KubeObject | undefined,
  real: KubeObject | undefined,
  { removed, removals, waited }: Removed,
): boolean {
  if (previewed === undefined || real === undefined) return false;
  if (!previewed.metadata?.deletionTimestamp || !real.metadata?.deletionTimestamp) return false;
  const finalizers = ({ metadata }: KubeObject): string => (metadata?.finalizers ?? []).toSorted().join();
  if (finalizers(real) === '' || finalizers(previewed) !== finalizers(real)) return false;
  const references = ({ metadata }: KubeObject, went: boolean): string[] =>
    (metadata?.ownerReferences ?? [])
      .filter(({ uid }) => (removed.has(uid) || waited.has(uid)) === went)
      .map(({ uid, kind, name, blockOwnerDeletion }) => `${uid} ${kind}/${name} ${blockOwnerDeletion === true}`);
  if (references(previewed, false).join() !== references(real, false).join()) return false;
  const kept = references(real, true);
  const wereKept = references(previewed, true);
  if (kept.length === 0 || wereKept.length === 0) return false;
  if (removals === undefined) return true;
  const place = new Map(removals.map((uid, i) => [uid, i]));
  const uidOf = (reference: string): string => reference.split(' ')[0]!;
  const dropped = wereKept.map(uidOf).filter((uid) => !kept.some((each) => uidOf(each) === uid) && !waited.has(uid));
  // An owner that only waits is there until the end.
  const places = kept.map(uidOf).map((uid) => place.get(uid) ?? Number.POSITIVE_INFINITY);
  return dropped.every((uid) => (place.get(uid) ?? Number.POSITIVE_INFINITY) < Math.max(...places));
}
