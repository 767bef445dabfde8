import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type KubeObject } from '../../api/meta/object-meta.ts';
import type { Hold } from '../documents/explanation.ts';
import { finalizerEvidence } from '../finalizers/finalizer-evidence.ts';
import { knownFinalizer } from '../finalizers/known-finalizers.ts';
import { isTerminating, nameOf, type ObservedObject } from '../observed/observed-object.ts';
import { ABSENT_CLASSES } from '../observed/ownership-index.ts';
import { setterOf } from '../snapshot/finalizer-setters.ts';
import type { ExplainEvidence } from './explain-evidence.ts';
import { blockingDependents } from './collector-decision.ts';
import { chainEnd, waitedFor } from './waited-for.ts';

/** Maximum number of listed dependents; the others are counted. */
const LISTED = 10;

/** Everything that holds a terminating object, each traced to its first cause (CAS-031). */
export function findHolds(object: ObservedObject, evidence: ExplainEvidence): Hold[] {
  const { ref, metadata } = object;
  if (!isTerminating(metadata)) return [];
  const body = evidence.bodies.get(ref.uid);
  return [
    ...finalizerHolds(object, evidence),
    ...blockingHolds(object, evidence),
    ...namespaceHolds(object, body, evidence),
    ...graceHolds(object, body),
  ];
}

function finalizerHolds({ ref, metadata }: ObservedObject, { index, sightings, bodies }: ExplainEvidence): Hold[] {
  const full = bodies.get(ref.uid)?.metadata ?? metadata;
  return (metadata.finalizers ?? []).map((name): Hold => {
    const setter = setterOf(full, name);
    if (name === FINALIZER_FOREGROUND) {
      const count = blockingDependents(ref.uid, index).length;
      const message =
        count === 0
          ? 'no dependent blocks it any more: the garbage collector removes it'
          : `the garbage collector removes it when ${count} blocking dependents are gone`;
      return { type: 'finalizer', name, ...setter, served: 'unknown', message };
    }
    if (name === FINALIZER_ORPHAN) {
      const count = index.dependentsOf(ref.uid).length;
      const message = `the garbage collector removes it when it has released ${count} dependents`;
      return { type: 'finalizer', name, ...setter, served: 'unknown', message };
    }
    const known = knownFinalizer(name);
    const { served, evidence } = finalizerEvidence(name, setter.setBy, sightings);
    const owner = known === undefined ? '' : `${known.removedBy} removes it; `;
    return { type: 'finalizer', name, ...setter, served, message: `${owner}${evidence}` };
  });
}

function blockingHolds(object: ObservedObject, evidence: ExplainEvidence): Hold[] {
  if (object.metadata.finalizers?.includes(FINALIZER_FOREGROUND) !== true) return [];
  return waitedFor(object, evidence.index)
    .filter(({ ref }) => ref.kind !== 'Namespace')
    .slice(0, LISTED)
    .map((dependent): Hold => ({
      type: 'blockingDependent',
      ref: dependent.ref,
      message: `${nameOf(dependent.ref)} blocks it${isTerminating(dependent.metadata) ? ' and is being deleted' : ''}`,
      firstCause: firstCause(dependent, evidence),
    }));
}

function namespaceHolds(object: ObservedObject, body: KubeObject | undefined, evidence: ExplainEvidence): Hold[] {
  if (object.ref.kind !== 'Namespace') return [];
  const { conditions = [] } = (body?.['status'] ?? {}) as { conditions?: Condition[] };
  const [remaining] = waitedFor(object, evidence.index);
  return conditions
    .filter(({ status, type = '' }) => status === 'True' && type.startsWith('Namespace'))
    .map(({ type = '', message = '', lastTransitionTime }): Hold => ({
      type: 'namespaceCondition',
      name: type,
      ...(lastTransitionTime === undefined ? {} : { since: lastTransitionTime }),
      message,
      ...(remaining === undefined ? {} : { firstCause: firstCause(remaining, evidence) }),
    }));
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

function graceHolds({ ref, metadata }: ObservedObject, body: KubeObject | undefined): Hold[] {
  if (ref.kind !== 'Pod' || ref.apiVersion !== 'v1') return [];
  const { nodeName } = (body?.['spec'] ?? {}) as { nodeName?: string };
  if (nodeName === undefined) return [];
  const seconds = metadata.deletionGracePeriodSeconds ?? 0;
  const message = `the kubelet of node ${nodeName} ends its containers within ${seconds}s, and then removes it`;
  return [{ type: 'gracePeriod', message }];
}

/** The first causes that delay the deletion of an object. */
export function firstCause(
  object: ObservedObject,
  evidence: ExplainEvidence,
): { readonly ref: ObservedObject['ref']; readonly message: string } {
  const { index } = evidence;
  const { object: end, cycle } = chainEnd(object, index);
  const { ref } = end;
  if (cycle !== undefined) {
    const members = cycle.map((each) => nameOf(each.ref)).join(' → ');
    return { ref, message: cycle.length === 1 ? 'it waits for itself' : `${members} wait for each other` };
  }
  const refused = evidence.refusedWrites.get(ref.uid);
  if (refused !== undefined) return { ref, message: `the server refuses to change it: ${refused.message}` };
  if (!isTerminating(end.metadata)) return { ref, message: `it is not being deleted: ${whyAlive(end, evidence)}` };
  const [hold] = findHolds(end, evidence).filter(({ type }) => type !== 'blockingDependent');
  if (hold === undefined) return { ref, message: 'it is being deleted, and nothing that was read holds it' };
  return { ref, message: hold.type === 'finalizer' ? `finalizer ${hold.name}: ${hold.message}` : hold.message };
}

function whyAlive(object: ObservedObject, { index }: ExplainEvidence): string {
  const classified = (object.metadata.ownerReferences ?? []).map((reference) => index.classify(object, reference));
  const undecided = classified.find(
    (each) => !ABSENT_CLASSES.has(each.class) && each.class !== 'solid' && each.class !== 'waiting',
  );
  if (undecided !== undefined) return `the collector cannot decide about it, because ${undecided.proof}`;
  const solid = classified.find((each) => each.class === 'solid');
  return solid === undefined ? 'the collector has not deleted it yet' : solid.proof;
}
