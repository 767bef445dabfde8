import type { Facts, OwnerFacts } from './facts.ts';

/** The state of an owner, or why it is unknown (COL-110...COL-114). Only the first three may lead to a write. */
export type OwnerClass =
  /** Proven not to exist. */
  | 'dangling'
  /** Exists, is being deleted and waits for its dependents. */
  | 'waiting'
  /** Exists otherwise; terminating without the finalizer FG is solid (COL-106). */
  | 'solid'
  /** A live read must decide. */
  | 'unread'
  /** A live read failed, which proves nothing. */
  | 'unreadable'
  /** The kind is not served. */
  | 'unmapped'
  /** A namespaced kind, named by a cluster-scoped object (COL-113). */
  | 'outOfReach';

/** `clusterScoped`: the dependent is. `believeGraph`: the graph may answer instead of the server (BETTER-9). */
export function classifyOwner(
  owner: OwnerFacts,
  { clusterScoped, believeGraph }: { readonly clusterScoped: boolean; readonly believeGraph: boolean },
): OwnerClass {
  if (clusterScoped && owner.mapping?.namespaced === true) return 'outOfReach';
  if (owner.graph !== 'unproven') {
    if (believeGraph && owner.doubted !== true) return owner.graph;
    // Seen alive under exactly these coordinates: whatever claims its absence is older than that (BETTER-14).
  } else if (owner.knownAbsent) return 'dangling';
  if (owner.mapping === undefined) return 'unmapped';
  switch (owner.live) {
    case 'unasked':
      return 'unread';
    case 'error':
      return 'unreadable';
    case 'absent':
      return 'dangling';
    default:
      return owner.live;
  }
}

/** The graph may answer for owners, and for the item itself. */
export function believesGraph(facts: Pick<Facts, 'graph' | 'shortcut'>): boolean {
  return facts.graph === 'trusted' && facts.shortcut === 'allowed';
}
