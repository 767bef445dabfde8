import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import { attemptToDelete } from '../../collector/decide/attempt-to-delete.ts';
import type { Facts, OwnerAnswer, OwnerFacts } from '../../collector/decide/facts.ts';
import { liveObjectOf } from '../../collector/decide/live-object.ts';
import { type KindMapping, targetOf } from '../../collector/decide/target.ts';
import type { Verdict } from '../../collector/decide/step.ts';
import { isTerminating, type ObservedObject } from '../observed/observed-object.ts';
import { type OwnershipIndex, type ReferenceClass } from '../observed/ownership-index.ts';

/** The answer that a live read of an owner would give. */
const ANSWERS: Readonly<Record<ReferenceClass, OwnerAnswer>> = {
  solid: 'solid',
  waiting: 'waiting',
  dangling: 'absent',
  staleUid: 'absent',
  otherNamespace: 'absent',
  otherIdentity: 'absent',
  namespacedOwner: 'unasked',
  unservedVersion: 'unasked',
  unservedKind: 'unasked',
  unread: 'error',
};

/**
 * The collector's decision about an object, from the observation, by the collector's own function (CAS-030). It never requests more facts,
 * because every answer is given.
 * @param inWaitingCycle the object waits for dependents that wait for it
 */
export function collectorDecision(
  object: ObservedObject,
  index: OwnershipIndex,
  { inWaitingCycle }: { readonly inWaitingCycle: boolean },
): Verdict {
  const { ref, metadata } = object;
  const mappingOf = (apiVersion: string, kind: string): KindMapping | undefined => {
    const served = index.observation.kindOf(apiVersion, kind);
    return served && { apiVersion, resource: served.resource, namespaced: served.namespaced };
  };
  const mapping = mappingOf(ref.apiVersion, ref.kind);
  const { apiVersion, kind, namespace = '', name, uid } = ref;
  const identity = { apiVersion, kind, namespace, name, uid };
  const { finalizers = [], ownerReferences = [] } = metadata;
  const dependents = index.dependentsOf(uid);
  // The collector does not count the object itself (BETTER-10).
  const blocking = blockingDependents(uid, index).filter((each) => each.ref.uid !== uid);
  const waits = (each: ObservedObject): boolean =>
    isTerminating(each.metadata) && each.metadata.finalizers?.includes(FINALIZER_FOREGROUND) === true;
  const facts: Facts = {
    queuedAs: 'observed',
    node: {
      state: 'observed',
      unlisted: false,
      shown: false,
      notOlderThan: undefined,
      identity,
      mapping,
      beingDeleted: isTerminating(metadata),
      deletingDependents: waits(object),
      resourceVersion: ref.resourceVersion,
      endAccepted: false,
      foregroundFinalizer: finalizers.includes(FINALIZER_FOREGROUND),
      orphanFinalizer: finalizers.includes(FINALIZER_ORPHAN),
      otherFinalizers: finalizers.some((each) => each !== FINALIZER_FOREGROUND && each !== FINALIZER_ORPHAN),
      dependents: dependents.length === 0 ? 'none' : dependents.some(waits) ? 'someDeletingDependents' : 'some',
      blocking: { count: blocking.length, lastAddition: 0 },
      inWaitingCycle,
      blockingWhenQueued: undefined,
    },
    latest:
      mapping === undefined
        ? { state: 'unasked' }
        : { state: 'found', target: targetOf(identity, mapping), object: liveObjectOf(metadata) },
    owners: ownerReferences.map((reference): OwnerFacts => {
      const { class: cls } = index.classify(object, reference);
      return {
        reference,
        knownAbsent: false,
        mapping:
          cls === 'unread'
            ? (mappingOf(reference.apiVersion, reference.kind) ?? mapping)
            : mappingOf(reference.apiVersion, reference.kind),
        graph: 'unproven',
        live: ANSWERS[cls],
      };
    }),
    graph: 'untrusted',
    shortcut: 'spent',
  };
  const step = attemptToDelete(facts);
  // Every step has a verdict: only an `unasked` owner would leave it open, and such an owner has no mapping or is out of reach, which ends
  // the round earlier.
  return 'verdict' in step ? step : { verdict: 'requeue', reason: 'ownerUnreadable', actions: [] };
}

/** Dependents that delay the foreground deletion of their owner. */
export function blockingDependents(uid: string, index: OwnershipIndex): readonly ObservedObject[] {
  return index
    .dependentsOf(uid)
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true),
    );
}
