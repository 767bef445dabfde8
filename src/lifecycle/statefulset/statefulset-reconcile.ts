import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodAvailable } from '../pods/pod-availability.ts';
import { isPodReady, type Pod } from '../pods/pod-object.ts';
import { type ControllerRevision, REVISION_LABEL, templateOf } from '../revisions/controller-revision.ts';
import {
  identityLabels,
  isParallel,
  ordinalOf,
  podOf,
  replicasOf,
  startOf,
  type StatefulSet,
  type StatefulSetStatus,
} from './stateful-set.ts';

export type StatefulAction =
  | { readonly verb: 'create'; readonly pod: Pod; readonly ordinal: number }
  | {
      readonly verb: 'delete';
      readonly pod: Pod;
      readonly reason: 'RecreatingFailedPod' | 'RecreatingTerminatedPod' | 'scaled down' | 'other revision';
    }
  /** Restores the identity labels of the pod. */
  | { readonly verb: 'relabel'; readonly pod: Pod };

export interface StatefulFacts {
  readonly set: StatefulSet;
  /** Claimed pods. */
  readonly pods: readonly Pod[];
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number | undefined;
  /** True if a claim of this pod belongs to an earlier one and is about to be deleted. */
  readonly claimIsStale: (pod: Pod) => boolean;
  /** Epoch ms. */
  readonly now: number;
}

interface StatefulPlan {
  readonly reason:
    | 'terminating'
    | 'replicas'
    | 'waits for a pod'
    | 'condemned pods'
    | 'rolling update'
    | 'as it should be';
  readonly actions: readonly StatefulAction[];
  readonly condemned: readonly Pod[];
  readonly status: StatefulSetStatus;
}

const revisionOf = ({ metadata }: Pod): string => metadata?.labels?.[REVISION_LABEL] ?? '';
const phaseOf = ({ status }: Pod): string => status?.phase ?? '';
const isCreated = (pod: Pod): boolean => phaseOf(pod) !== '';
const isRunningAndReady = (pod: Pod): boolean => phaseOf(pod) === 'Running' && isPodReady(pod);
const isHealthy = (pod: Pod): boolean => isRunningAndReady(pod) && !isTerminating(pod);

/** The actions of one sync of a StatefulSet, and its status before them (LIFE-610 to LIFE-615; `stateful_set_control.go`). Pure. */
export function planStatefulSet(facts: StatefulFacts): StatefulPlan {
  const { set } = facts;
  const status = statusOf(facts);
  const [start, count] = [startOf(set), replicasOf(set)];
  const inRange = (ordinal: number): boolean => ordinal >= start && ordinal < start + count;
  const byOrdinal = new Map(facts.pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  const replicas = Array.from(
    { length: count },
    (_, index) => byOrdinal.get(start + index) ?? versioned(facts, start + index),
  );
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= 0 && !inRange(ordinal))
    .toSorted(([a], [b]) => b - a)
    .map(([, pod]) => pod);
  const plan = (reason: StatefulPlan['reason'], actions: readonly StatefulAction[] = []): StatefulPlan => ({
    reason,
    actions,
    condemned,
    status,
  });
  if (isTerminating(set)) return plan('terminating');
  const ordered = !isParallel(set);
  const living = processReplicas(facts, replicas, ordered);
  if (living.blocked) return plan(living.actions.length > 0 ? 'replicas' : 'waits for a pod', living.actions);
  const firstUnhealthy = [...replicas, ...condemned.toReversed()].find((pod) => !isHealthy(pod));
  const going = processCondemned(facts, condemned, { ordered, firstUnhealthy });
  const actions = [...living.actions, ...going.actions];
  if (going.blocked || actions.length > 0) {
    return plan(
      going.actions.length > 0 ? 'condemned pods' : actions.length > 0 ? 'replicas' : 'waits for a pod',
      actions,
    );
  }
  const old = nextToUpdate(facts, replicas);
  if (old === 'wait') return plan('waits for a pod');
  if (old.length === 0) return plan('as it should be');
  const updates = old.map((pod): StatefulAction => ({ verb: 'delete', pod, reason: 'other revision' }));
  return plan('rolling update', updates);
}

interface Step {
  readonly actions: readonly StatefulAction[];
  /** True if this sync does nothing further. */
  readonly blocked: boolean;
}

function processReplicas(facts: StatefulFacts, replicas: readonly Pod[], ordered: boolean): Step {
  const { set, now, claimIsStale } = facts;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const actions: StatefulAction[] = [];
  for (const pod of replicas) {
    const ordinal = ordinalOf(set, pod) ?? 0;
    if (phaseOf(pod) === 'Failed' || phaseOf(pod) === 'Succeeded') {
      const reason = phaseOf(pod) === 'Failed' ? 'RecreatingFailedPod' : 'RecreatingTerminatedPod';
      if (!isTerminating(pod)) actions.push({ verb: 'delete', pod, reason });
      if (ordered) return { actions, blocked: true };
      continue;
    }
    if (!isCreated(pod)) {
      if (!claimIsStale(pod)) actions.push({ verb: 'create', pod, ordinal });
      if (ordered) return { actions, blocked: true };
      continue;
    }
    if (ordered && (isTerminating(pod) || !isPodAvailable(pod, minReadySeconds, now) || !isRunningAndReady(pod))) {
      return { actions, blocked: true };
    }
    const labels = identityLabels(set, ordinal);
    if (Object.entries(labels).some(([name, value]) => pod.metadata?.labels?.[name] !== value)) {
      const metadata = { ...pod.metadata, labels: { ...pod.metadata?.labels, ...labels } };
      actions.push({ verb: 'relabel', pod: { ...pod, metadata } });
    }
  }
  return { actions, blocked: false };
}

function processCondemned(
  { set, now }: StatefulFacts,
  condemned: readonly Pod[],
  { ordered, firstUnhealthy }: { readonly ordered: boolean; readonly firstUnhealthy: Pod | undefined },
): Step {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const actions: StatefulAction[] = [];
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (ordered) return { actions, blocked: true };
      continue;
    }
    const ready = isRunningAndReady(pod) && isPodAvailable(pod, minReadySeconds, now);
    if (ordered && !ready && pod !== firstUnhealthy) return { actions, blocked: true };
    actions.push({ verb: 'delete', pod, reason: 'scaled down' });
    if (ordered) return { actions, blocked: true };
  }
  return { actions, blocked: false };
}

/** The pod with the highest ordinal that is not of the update revision, once those above are healthy. */
function nextToUpdate({ set, update }: StatefulFacts, replicas: readonly Pod[]): readonly Pod[] | 'wait' {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  const least = Math.max(0, (rollingUpdate?.partition ?? 0) - startOf(set));
  for (let index = replicas.length - 1; index >= least; index--) {
    const pod = replicas[index]!;
    if (revisionOf(pod) !== update.metadata?.name && !isTerminating(pod)) return [pod];
    if (!isHealthy(pod)) return 'wait';
  }
  return [];
}

/** A missing pod: of the current revision below the partition, otherwise of the update revision. */
function versioned({ set, current, update }: StatefulFacts, ordinal: number): Pod {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  const bound = rollingUpdate?.partition ?? startOf(set) + (set.status?.currentReplicas ?? 0);
  const revision = type !== 'OnDelete' && ordinal < bound ? current : update;
  return podOf(set, { template: templateOf(revision), revision: revision.metadata?.name ?? '', ordinal });
}

function statusOf({ set, pods, current, update, collisionCount, now }: StatefulFacts): StatefulSetStatus {
  const created = pods.filter(isCreated);
  const living = created.filter((pod) => !isTerminating(pod));
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const names = { current: current.metadata?.name ?? '', update: update.metadata?.name ?? '' };
  const ready = created.filter(isRunningAndReady);
  const counts = {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: living.filter((pod) => revisionOf(pod) === names.current).length,
    updatedReplicas: living.filter((pod) => revisionOf(pod) === names.update).length,
    currentRevision: names.current,
    updateRevision: names.update,
    collisionCount: collisionCount ?? 0,
  };
  const desired = replicasOf(set);
  const done =
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    counts.updatedReplicas === desired &&
    counts.readyReplicas === desired &&
    counts.replicas === desired;
  const { conditions } = set.status ?? {};
  return {
    ...counts,
    ...(done ? { currentReplicas: counts.updatedReplicas, currentRevision: counts.updateRevision } : {}),
    ...(conditions === undefined ? {} : { conditions }),
  };
}
