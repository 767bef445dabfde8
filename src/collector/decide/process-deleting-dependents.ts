import { FINALIZER_FOREGROUND } from '../../api/meta/object-meta.ts';
import type { Action, RemoveFinalizerAction } from './actions.ts';
import type { Facts, NodeFacts } from './facts.ts';
import type { LiveObject } from './live-object.ts';
import type { Step } from './step.ts';
import { unblockReferences } from './unblock-references.ts';
import type { Target } from './target.ts';

interface DeletingDependents {
  readonly node: NodeFacts;
  readonly target: Target;
  /** Undefined if the graph's record is used instead. */
  readonly live: LiveObject | undefined;
  readonly graph: Facts['graph'];
}

/** Decides about an object that is being deleted in foreground. */
export function processDeletingDependents({ node, target, live, graph }: DeletingDependents): Step {
  if (node.blocking.count > 0) {
    const actions: Action[] = queuesBlockingDependents(node)
      ? [{ action: 'enqueueBlockingDependents', owner: target.uid }]
      : [];
    if (!node.inWaitingCycle) return { verdict: 'forget', reason: 'blockedByDependents', actions };
    // The references must be read directly before the patch, which would otherwise bring back a removed reference.
    if (live === undefined) return { need: 'latest', target };
    return { verdict: 'forget', reason: 'waitingCycle', actions: [...actions, ...unblockReferences(target, live)] };
  }
  const holdsFinalizer = live?.finalizers.includes(FINALIZER_FOREGROUND) ?? node.foregroundFinalizer;
  // The finalizer was removed by hand, or by a second delete with another policy (COL-10F, COL-10G).
  if (!holdsFinalizer) return { verdict: 'forget', reason: 'finalizerAlreadyRemoved', actions: [] };
  // While the graph is not trusted, the object's watch may show nothing, and the server would refuse the graph's version.
  const version = graph === 'untrusted' && live !== undefined ? live.resourceVersion : node.resourceVersion;
  const remove: RemoveFinalizerAction = {
    action: 'removeFinalizer',
    target,
    finalizer: FINALIZER_FOREGROUND,
    known: knownFinalizers(node, live, version),
    // At another version the owner may have been deleted again in foreground, for dependents that the graph does not know yet.
    ...(version === undefined ? {} : { only: version }),
  };
  return { verdict: 'forget', reason: 'noBlockingDependents', actions: [remove] };
}

function knownFinalizers(
  node: NodeFacts,
  live: LiveObject | undefined,
  version: string | undefined,
): RemoveFinalizerAction['known'] {
  if (live !== undefined) {
    const { resourceVersion } = live;
    if (version !== undefined && resourceVersion !== version) return undefined;
    return { resourceVersion, otherFinalizers: live.finalizers.filter((name) => name !== FINALIZER_FOREGROUND) };
  }
  // The graph knows that other finalizers exist, but not which.
  if (node.resourceVersion === undefined || node.otherFinalizers || node.orphanFinalizer) return undefined;
  return { resourceVersion: node.resourceVersion, otherFinalizers: [] };
}

/**
 * COL-102 queues all blocking dependents whenever the owner is processed, which happens whenever one of them is deleted (COL-103); that is
 * quadratic. Here they are queued the first time, when one was added since (COL-109, COL-10A), and when half of them are gone. Each is
 * still reached, the last one at the latest when it is alone, and the sum is twice their number.
 */
function queuesBlockingDependents({ blocking, blockingWhenQueued }: NodeFacts): boolean {
  if (blockingWhenQueued === undefined) return true;
  if (blocking.lastAddition !== blockingWhenQueued.lastAddition) return true;
  return blocking.count * 2 <= blockingWhenQueued.count;
}
