import { parseTime } from '../../api/meta/time.ts';
import { isPodFinished, type Node, type Pod } from '../pods/pod-object.ts';

/** Reasons, named as in kube-controller-manager's metrics. */
type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

export interface PodDeletion {
  readonly pod: Pod;
  readonly reason: PodGcReason;
}

export interface PodGcFacts {
  readonly pods: readonly Pod[];
  /** Cached nodes by name. */
  readonly nodes: (name: string) => Node | undefined;
  /** Maximum number of terminated pods; with 0 or less, none is deleted (LIFE-053). */
  readonly threshold: number;
  /** Nodes that a live read has just proven to be gone. */
  readonly gone: ReadonlySet<string>;
}

interface PodGcPass {
  /** Pods in the order of deletion. A pod may occur for two reasons; the first deletes it. */
  readonly deletions: readonly PodDeletion[];
  /** Nodes that pods name and the cache lacks, each once. */
  readonly missingNodes: readonly string[];
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const UNFINISHED: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);

/** An empty phase counts as terminated (LIFE-050). */
export function isTerminated(pod: Pod): boolean {
  return !UNFINISHED.has(pod.status?.phase ?? '');
}

/** One pass of the pod garbage collector over all pods (LIFE-050 to LIFE-059; `pkg/controller/podgc`). */
export function decidePass({ pods, nodes, threshold, gone }: PodGcFacts): PodGcPass {
  const missing = new Set<string>();
  const orphaned: PodDeletion[] = [];
  const outOfService: PodDeletion[] = [];
  const unscheduled: PodDeletion[] = [];
  for (const pod of pods) {
    const nodeName = pod.spec?.nodeName ?? '';
    const node = nodeName === '' ? undefined : nodes(nodeName);
    const terminating = Boolean(pod.metadata?.deletionTimestamp);
    if (nodeName === '') {
      if (terminating) unscheduled.push({ pod, reason: 'unscheduled' });
    } else if (node === undefined) {
      missing.add(nodeName);
      if (gone.has(nodeName)) orphaned.push({ pod, reason: 'orphaned' });
    } else if (terminating && isOutOfService(node)) outOfService.push({ pod, reason: 'out-of-service' });
  }
  const deletions = [...surplus(pods, threshold), ...outOfService, ...orphaned, ...unscheduled];
  const seen = new Set<Pod>();
  return {
    deletions: deletions.filter(({ pod }) => !seen.has(pod) && seen.add(pod)),
    missingNodes: [...missing],
  };
}

/** True for a node that an administrator has given up: not ready, with the out-of-service taint of any value or effect (LIFE-056). */
export function isOutOfService(node: Node): boolean {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready !== 'True' && (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}

/** The terminated pods beyond the threshold: evicted ones first, then the oldest, then by name (LIFE-051, LIFE-052). */
function surplus(pods: readonly Pod[], threshold: number): PodDeletion[] {
  if (threshold <= 0) return [];
  const terminated = pods.filter(isTerminated);
  const count = terminated.length - threshold;
  if (count <= 0) return [];
  const rank = (pod: Pod) => (pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted' ? 0 : 1);
  const age = (pod: Pod) => parseTime(pod.metadata?.creationTimestamp ?? '') ?? 0;
  const name = (pod: Pod) => pod.metadata?.name ?? '';
  return terminated
    .toSorted((a, b) => rank(a) - rank(b) || age(a) - age(b) || (name(a) < name(b) ? -1 : 1))
    .slice(0, count)
    .map((pod) => ({ pod, reason: 'terminated' }));
}

/**
 * The patch of a pod's status before its deletion; undefined for a pod that finished by itself (LIFE-060, LIFE-061). It patches only
 * `status`, so that a spec with duplicate merge keys survives (LIFE-063).
 */
export function statusPatchOf({ pod, reason }: PodDeletion, at: string): object | undefined {
  if (isPodFinished(pod)) return undefined;
  const { uid, generation } = pod.metadata ?? {};
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    lastTransitionTime: at,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return {
    metadata: { uid },
    status: { phase: 'Failed', ...(reason === 'orphaned' ? { conditions: [condition] } : {}) },
  };
}
