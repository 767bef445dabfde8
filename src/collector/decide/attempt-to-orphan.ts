import { FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import type { Reason } from '../types/reasons.ts';
import type { RemoveFinalizerAction } from './actions.ts';
import { type Look, lookAt } from './look-at.ts';
import type { OrphanFacts, OrphanNodeFacts, OrphanStep } from './orphan-step.ts';
import { type Target, targetOf } from './target.ts';

/**
 * Orphans the dependents of an object that is deleted with policy Orphan, then releases the object (COL-120). The caller calls it again
 * with the answers added until it returns a verdict. The finalizer is removed only after every known dependent was released
 * (COL-122), so that none is collected as a consequence (COL-125).
 */
export function attemptToOrphan(facts: OrphanFacts): OrphanStep {
  const { node, version, doubtful, dependents, released, barrier, foundReleased } = facts;
  if (node === undefined) return forget('goneFromGraph');
  // A backup of the server was restored (designs/0011).
  if (!node.beingDeleted) return forget('notBeingDeleted');
  // Another delete removed the finalizer (COL-10F), so the dependents are no longer to be orphaned.
  if (!node.orphanFinalizer) return forget('finalizerAlreadyRemoved');
  if (node.mapping === undefined) return { verdict: 'requeue', reason: 'kindUnknown', actions: [] };
  const target = targetOf(node.identity, node.mapping);
  const owner = target.uid;
  const end = doubtful ? endOfDoubt(lookAt(facts.latest, target, node.mapping), target) : undefined;
  if (end !== undefined) return end;
  if (released === 'failed' || foundReleased === 'failed') {
    return { verdict: 'requeue', reason: 'dependentsNotReleased', actions: [] };
  }
  if (released === 'unasked' && dependents.length > 0) return { need: 'released', owner, dependents };
  if (barrier === 'unasked') return { need: 'barrier', owner: target };
  if (typeof barrier === 'object' && barrier.found.length > 0 && foundReleased === 'unasked') {
    return { need: 'foundReleased', owner, dependents: barrier.found };
  }
  const remove: RemoveFinalizerAction = {
    action: 'removeFinalizer',
    target,
    finalizer: FINALIZER_ORPHAN,
    known: knownFinalizers(facts, node),
    ...(version === undefined ? {} : { only: version }),
  };
  return { verdict: 'forget', reason: 'dependentsReleased', actions: [remove] };
}

function knownFinalizers({ version, latest }: OrphanFacts, node: OrphanNodeFacts): RemoveFinalizerAction['known'] {
  if (version === undefined) return undefined;
  if (latest.state === 'found' && latest.object.resourceVersion === version) {
    const others = latest.object.finalizers.filter((name) => name !== FINALIZER_ORPHAN);
    return { resourceVersion: version, otherFinalizers: others };
  }
  // The graph knows that other finalizers exist, but not which.
  return node.otherFinalizers ? undefined : { resourceVersion: version, otherFinalizers: [] };
}

/**
 * The verdict of a round without trust in the graph, or the request to read the owner first. Undefined if the owner is being deleted and
 * waits until its dependents are orphaned.
 */
function endOfDoubt(look: Look, target: Target): OrphanStep | undefined {
  if (look === 'unread') return { need: 'latest', target };
  if (look === 'unreadable') return { verdict: 'requeue', reason: 'objectUnreadable', actions: [] };
  if ('gone' in look) return forget(look.gone);
  if (!look.live.deleting) return forget('notBeingDeleted');
  return look.live.finalizers.includes(FINALIZER_ORPHAN) ? undefined : forget('finalizerAlreadyRemoved');
}

function forget(reason: Reason): OrphanStep {
  return { verdict: 'forget', reason, actions: [] };
}
