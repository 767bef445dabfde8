import { FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import type { RemoveFinalizerAction } from './actions.ts';
import type { OrphanFacts, OrphanStep } from './orphan-step.ts';
import { targetOf } from './target.ts';

/**
 * Lets the dependents of an object that is deleted with policy Orphan go, then the object (section 9). Call it again with
 * the answers added until it gives a verdict. The finalizer is removed only after every known dependent was released
 * (COL-122), so that none is collected as a consequence (COL-125).
 */
export function attemptToOrphan(facts: OrphanFacts): OrphanStep {
  const { node, version, dependents, released, barrier, foundReleased } = facts;
  if (node === undefined) return { verdict: 'forget', reason: 'goneFromGraph', actions: [] };
  // A backup of the server was restored (designs/0011).
  if (!node.beingDeleted) return { verdict: 'forget', reason: 'notBeingDeleted', actions: [] };
  // Another delete took it away again (COL-10F): the dependents are not to be orphaned any more.
  if (!node.orphanFinalizer) return { verdict: 'forget', reason: 'finalizerAlreadyRemoved', actions: [] };
  if (node.mapping === undefined) return { verdict: 'requeue', reason: 'kindUnknown', actions: [] };
  const target = targetOf(node.identity, node.mapping);
  const owner = target.uid;
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
    known:
      version === undefined || node.otherFinalizers ? undefined : { resourceVersion: version, otherFinalizers: [] },
    ...(version === undefined ? {} : { only: version }),
  };
  return { verdict: 'forget', reason: 'dependentsReleased', actions: [remove] };
}
