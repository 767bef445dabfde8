import type { KubeObject } from '../../src/api/meta/object-meta.ts';

export interface Removed {
  /** uids that go in the preview. */
  readonly removed: ReadonlySet<string>;
  /** uids in the order in which they really went; undefined where nobody knows it. */
  readonly removals: readonly string[] | undefined;
  /** uids that wait for their dependents in the foreground: to a dependent they are as good as gone from then on. */
  readonly waited: ReadonlySet<string>;
}

/**
 * Whether two states of a dependent differ only because its owners went one after the other. The collector that looks at it between two of them
 * takes the reference to the first away and finds the second alive; the collector that looks later deletes it with every reference that it has.
 * Both are right. Where a finalizer holds the dependent, what is left of its references shows which of them it was.
 *
 * Nothing else may differ, and a reference to the owner that went last stays in any order, unless that owner waited for its dependents before.
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
