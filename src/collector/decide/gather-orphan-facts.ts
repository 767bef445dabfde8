import type { Uid } from '../graph/identity.ts';
import type { FactSource } from './gather-facts.ts';
import type { OrphanFacts } from './orphan-step.ts';

/** One round of orphaning: owner and dependents as they were when it began (COL-120), and what has been answered so far. */
export type OrphanRound = Omit<OrphanFacts, 'node'> & { readonly uid: Uid };

/** The beginning of a round; `triedBefore`: this owner's last one ended in a failure. O(dependents). */
export function beginOrphanRound(
  source: Pick<FactSource, 'graph' | 'trust'>,
  uid: Uid,
  { triedBefore }: { readonly triedBefore: boolean },
): OrphanRound {
  // A reference to itself goes with the object.
  const dependents = source.graph.dependents(uid).filter((dependent) => dependent !== uid);
  const version = source.graph.node(uid)?.resourceVersion;
  const doubtful = triedBefore || source.trust === 'untrusted';
  const latest = { state: 'unasked' } as const;
  return {
    uid,
    version,
    doubtful,
    latest,
    dependents,
    released: 'unasked',
    barrier: 'unasked',
    foundReleased: 'unasked',
  };
}

/** The facts as they are now; gather them anew before each call of `attemptToOrphan`. */
export function gatherOrphanFacts(source: Pick<FactSource, 'graph' | 'mapping'>, round: OrphanRound): OrphanFacts {
  const { uid, ...asked } = round;
  const node = source.graph.node(uid);
  if (node === undefined) return { node, ...asked };
  const { identity, resourceVersion, beingDeleted, orphanFinalizer, otherFinalizers, foregroundFinalizer } = node;
  return {
    node: {
      identity,
      mapping: source.mapping(identity.apiVersion, identity.kind, source.graph.resourceAt(node.id)),
      resourceVersion,
      beingDeleted,
      orphanFinalizer,
      otherFinalizers: otherFinalizers || foregroundFinalizer,
    },
    ...asked,
  };
}
