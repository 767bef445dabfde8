/**
 * The order of a merged list (upstream design "preserve order in strategic merge patch"): items in the patch keep the order of the patch,
 * and items only on the server keep the order of the server. Where the two interleave, a server item comes first only if it preceded the
 * next patch item on the server.
 */

/** The identity of an item: its merge key, or the item itself in a list of scalars. */
type Identify = (item: unknown) => unknown;

/**
 * @param merged the items to order; each identity occurs in `patchOrder`, in `serverOrder`, or in both
 * @param patchOrder identities in the order of the patch
 * @param serverOrder identities in the order of the live list
 */
export function orderElements(
  merged: readonly unknown[],
  identify: Identify,
  orders: { readonly patchOrder: readonly unknown[]; readonly serverOrder: readonly unknown[] },
): unknown[] {
  const patchRank = ranks(orders.patchOrder);
  const serverRank = ranks(orders.serverOrder);
  const patchItems = merged.filter((item) => patchRank.has(identify(item)));
  const serverItems = merged.filter((item) => !patchRank.has(identify(item)));
  sortByRank(patchItems, patchRank, identify);
  sortByRank(serverItems, serverRank, identify);

  const ordered: unknown[] = [];
  let next = 0;
  for (const item of patchItems) {
    // An item that is new to the server has no predecessor there, so it comes first.
    const rank = serverRank.get(identify(item)) ?? -1;
    while (next < serverItems.length && (serverRank.get(identify(serverItems[next])) ?? Infinity) < rank) {
      ordered.push(serverItems[next++]);
    }
    ordered.push(item);
  }
  return ordered.concat(serverItems.slice(next));
}

/** The first occurrence counts, as for duplicates upstream. */
function ranks(order: readonly unknown[]): Map<unknown, number> {
  const ranked = new Map<unknown, number>();
  for (const [index, identity] of order.entries()) if (!ranked.has(identity)) ranked.set(identity, index);
  return ranked;
}

/** A stable sort. Unknown identities come last in their given order. */
function sortByRank(items: unknown[], rank: ReadonlyMap<unknown, number>, identify: Identify): void {
  const of = (item: unknown): number => rank.get(identify(item)) ?? Number.MAX_SAFE_INTEGER;
  items.sort((left, right) => of(left) - of(right));
}
