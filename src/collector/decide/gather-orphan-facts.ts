import type { Uid } from '../types/identity.ts';
import type { LatestAnswer } from './facts.ts';
import { type FactSource, trusts } from './gather-facts.ts';
import type { OrphanFacts } from './orphan-step.ts';

/** One round of orphaning: owner and dependents as they were when it began (COL-120), and the answers so far. */
export type OrphanRound = Omit<OrphanFacts, 'node'> & { readonly uid: Uid };

type TrustSource = Pick<FactSource, 'graph' | 'trust' | 'trusts'>;

const NOTHING_RELEASED = { released: 'unasked', barrier: 'unasked', foundReleased: 'unasked' } as const;

/** The beginning of a round. `triedBefore`: the last round of this owner failed. O(dependents). */
export function beginOrphanRound(
  source: TrustSource,
  uid: Uid,
  { triedBefore }: { readonly triedBefore: boolean },
): OrphanRound {
  const dependents = dependentsOf(source, uid);
  const version = source.graph.node(uid)?.resourceVersion;
  const doubtful = triedBefore || !isTrusted(source, uid);
  const latest = { state: 'unasked' } as const;
  return { ...NOTHING_RELEASED, uid, version, doubtful, latest, dependents };
}

/**
 * Continues the round with the owner as it was read. While the graph is not trusted, the owner's own watch may show no more of its events:
 * then the finalizer is removed from the version that was read, and dependents that appeared until then are orphaned as well.
 * O(dependents).
 */
export function lookedAtOwner(source: TrustSource, round: OrphanRound, latest: LatestAnswer): OrphanRound {
  if (isTrusted(source, round.uid) || latest.state !== 'found') return { ...round, latest };
  const { resourceVersion: version } = latest.object;
  // Earlier answers were about an older version, and about its dependents at that time.
  return { ...round, ...NOTHING_RELEASED, latest, version, dependents: dependentsOf(source, round.uid) };
}

function isTrusted(source: TrustSource, uid: Uid): boolean {
  const node = source.graph.node(uid);
  return node === undefined ? source.trust === 'trusted' : trusts(source, node.identity);
}

/** An object's reference to itself needs no patch, because it is deleted with the object. */
function dependentsOf({ graph }: Pick<FactSource, 'graph'>, uid: Uid): readonly Uid[] {
  return graph.dependents(uid).filter((dependent) => dependent !== uid);
}

/** The current facts; gather them again before each call of `attemptToOrphan`. */
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
