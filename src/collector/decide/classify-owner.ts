import type { Facts, OwnerFacts } from './facts.ts';

/** The class of an owner, or the reason why it is unknown (COL-110...COL-114). Only the first three may lead to a write. */
export type OwnerClass =
  /** Proven not to exist. */
  | 'dangling'
  /** Exists, is being deleted and waits for its dependents. */
  | 'waiting'
  /** Exists otherwise. An owner that is terminating without the foreground finalizer is solid (COL-106). */
  | 'solid'
  /** A live read must decide. */
  | 'unread'
  /** A live read failed, which proves nothing. */
  | 'unreadable'
  /** The kind is not served. */
  | 'unmapped'
  /** The reference names a namespaced kind, but the dependent is cluster-scoped (COL-113). */
  | 'outOfReach';

/** `clusterScoped` says that the dependent is. `believeGraph` says that the graph may answer instead of the server (BETTER-9). */
export function classifyOwner(
  owner: OwnerFacts,
  { clusterScoped, believeGraph }: { readonly clusterScoped: boolean; readonly believeGraph: boolean },
): OwnerClass {
  if (clusterScoped && owner.mapping?.namespaced === true) return 'outOfReach';
  if (owner.graph !== 'unproven') {
    if (believeGraph && owner.doubted !== true) return owner.graph;
    // A watch has shown it alive at exactly these coordinates, so any claim of its absence is older (BETTER-14).
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

/** True if the graph may answer for owners and for the item itself. */
export function believesGraph(facts: Pick<Facts, 'graph' | 'shortcut'>): boolean {
  return facts.graph === 'trusted' && facts.shortcut === 'allowed';
}
