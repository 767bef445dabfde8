import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodAvailable } from '../pods/pod-availability.ts';
import { isPodReady, type Node, type Pod } from '../pods/pod-object.ts';
import { REVISION_LABEL } from '../revisions/controller-revision.ts';
import { type DaemonSet, type DaemonSetStatus, nodeFit, targetNode } from './daemon-set.ts';

/** Maximum number of pods that one sync of a set creates or deletes (LIFE-643). */
const BURST = 250;

type DaemonDeletion = 'does not fit' | 'failed' | 'succeeded' | 'surplus' | 'node is gone' | 'other revision';

export interface DaemonFacts {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** Claimed pods. */
  readonly pods: readonly Pod[];
  /** The hash of the current revision. */
  readonly hash: string;
  /** True if a failed pod on this node must not be replaced yet. */
  readonly inBackOff: (node: string) => boolean;
  /** Epoch ms. */
  readonly now: number;
}

export interface DaemonPlan {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly { readonly pod: Pod; readonly node: string; readonly reason: DaemonDeletion }[];
}

/** Decides which pods a DaemonSet creates and deletes (LIFE-641, LIFE-642; `manage`). Pure. */
export function planDaemons(facts: DaemonFacts): DaemonPlan {
  const { set, nodes, pods, inBackOff } = facts;
  const byNode = podsByNode(pods);
  const create: string[] = [];
  const deletions: { pod: Pod; node: string; reason: DaemonDeletion }[] = [];
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    const { run, stay } = nodeFit(set, node);
    const there = byNode.get(name) ?? [];
    if (!stay) {
      for (const pod of there) if (!isTerminating(pod)) deletions.push({ pod, node: name, reason: 'does not fit' });
      continue;
    }
    if (there.length === 0) {
      if (run) create.push(name);
      continue;
    }
    const running: Pod[] = [];
    for (const pod of there.filter((each) => !isTerminating(each))) {
      const { phase } = pod.status ?? {};
      if (phase === 'Failed') {
        if (!inBackOff(name)) deletions.push({ pod, node: name, reason: 'failed' });
      } else if (phase === 'Succeeded') deletions.push({ pod, node: name, reason: 'succeeded' });
      else running.push(pod);
    }
    for (const pod of surplus(facts, running)) deletions.push({ pod, node: name, reason: 'surplus' });
  }
  const known = new Set(nodes.map(({ metadata }) => metadata?.name));
  for (const pod of pods) {
    const name = targetNode(pod);
    if (pod.spec?.nodeName || name === undefined || known.has(name) || isTerminating(pod)) continue;
    deletions.push({ pod, node: name, reason: 'node is gone' });
  }
  return bounded({ create, delete: deletions });
}

const bounded = (plan: DaemonPlan): DaemonPlan => ({
  create: plan.create.slice(0, BURST),
  delete: plan.delete.slice(0, BURST),
});

/** All pods of a node except the oldest. During a surge, a pod of the current revision may stay beside an old available one. */
function surplus({ set, hash, now }: DaemonFacts, running: readonly Pod[]): Pod[] {
  if (running.length <= 1) return [];
  const oldest = running.toSorted(byAssignmentAndAge);
  if (!(set.spec?.updateStrategy?.type !== 'OnDelete' && hasSurge(set))) return oldest.slice(1);
  const old = oldest.filter((pod) => !isUpdated(pod, hash));
  const present = oldest.filter((pod) => isUpdated(pod, hash));
  const going = [...old.slice(1), ...present.slice(1)];
  if (old[0] !== undefined && present[0] !== undefined) {
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    if (isPodAvailable(present[0], minReadySeconds, now)) going.push(old[0]);
  }
  return going;
}

/** Assigned pods before unassigned ones, then the oldest first. */
function byAssignmentAndAge(a: Pod, b: Pod): number {
  const assigned = (pod: Pod): number => (pod.spec?.nodeName ? 0 : 1);
  const [first, second] = [a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? ''];
  return assigned(a) - assigned(b) || (first < second ? -1 : first > second ? 1 : 0);
}

const isUpdated = ({ metadata }: Pod, hash: string): boolean => metadata?.labels?.[REVISION_LABEL] === hash;

function hasSurge({ spec }: DaemonSet): boolean {
  const surge = spec?.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return surge !== 0 && surge !== '0%';
}

/** Decides which old pods a rolling update deletes, and which nodes get a new pod beside the old one (`rollingUpdate`). Pure. */
export function planRollingUpdate(facts: DaemonFacts): DaemonPlan {
  const { set, nodes, pods, hash, now } = facts;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const available = (pod: Pod): boolean => isPodAvailable(pod, minReadySeconds, now);
  const byNode = podsByNode(pods);
  const desired = nodes.filter((node) => nodeFit(set, node).run).length;
  const { maxUnavailable = 1, maxSurge = 0 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, desired);
  const unavailable = surge > 0 ? 0 : Math.max(1, scaled(maxUnavailable, desired));
  let busy = 0;
  const first: string[] = [];
  const candidates: string[] = [];
  const oldOn = new Map<string, Pod>();
  const going: string[] = [];
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    if (!nodeFit(set, node).run) continue;
    const there = (byNode.get(name) ?? []).filter((pod) => !isTerminating(pod));
    const old = there.filter((pod) => !isUpdated(pod, hash));
    const present = there.filter((pod) => isUpdated(pod, hash));
    // With several pods of one revision, or none at all, `planDaemons` decides.
    if (old.length > 1 || present.length > 1 || there.length === 0) {
      busy++;
      continue;
    }
    if (old[0] !== undefined) oldOn.set(name, old[0]);
    if (old[0] === undefined) {
      if (surge === 0 && !available(present[0]!)) busy++;
    } else if (present[0] === undefined) {
      (available(old[0]) ? candidates : first).push(name);
    } else if (surge > 0) {
      if (!available(old[0]) || available(present[0])) going.push(name);
      else busy++;
    } else busy++;
  }
  const room = Math.max(0, (surge > 0 ? surge : unavailable) - busy);
  const chosen = [...first, ...candidates.slice(0, room)];
  const deletion = (name: string) => ({ pod: oldOn.get(name)!, node: name, reason: 'other revision' as const });
  return bounded(
    surge > 0 ? { create: chosen, delete: going.map(deletion) } : { create: [], delete: chosen.map(deletion) },
  );
}

function scaled(value: number | string, of: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number(value.replace(/%$/, '')) * of) / 100) || 0;
}

/** The status after a sync (`updateDaemonSetStatus`). Pure. */
export function daemonSetStatus({ set, nodes, pods, hash, now }: Omit<DaemonFacts, 'inBackOff'>): DaemonSetStatus {
  const byNode = podsByNode(pods);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const node of nodes) {
    const there = byNode.get(node.metadata?.name ?? '') ?? [];
    if (!nodeFit(set, node).run) {
      if (there.length > 0) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    const [oldest] = there.toSorted(byAssignmentAndAge);
    if (oldest === undefined) continue;
    counts.current++;
    const shown = there.find((pod) => isUpdated(pod, hash) && isPodReady(pod)) ?? oldest;
    if (isPodReady(shown)) counts.ready++;
    if (isPodAvailable(shown, minReadySeconds, now)) counts.available++;
    if (isUpdated(shown, hash)) counts.updated++;
  }
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    observedGeneration: set.metadata?.generation ?? 0,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}

function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = targetNode(pod);
    if (name === undefined) continue;
    const there = byNode.get(name);
    if (there === undefined) byNode.set(name, [pod]);
    else there.push(pod);
  }
  return byNode;
}
