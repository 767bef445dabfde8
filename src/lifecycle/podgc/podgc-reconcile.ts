import { parseTime } from '../../api/meta/time.ts';
import { grouped } from '../../base/collections/grouped.ts';
import { podEnd } from '../pods/pod-end.ts';
import { isPodFinished, type Node, type Pod } from '../pods/pod-object.ts';

/** Reasons, named as in kube-controller-manager's metrics. */
type PodGcReason = TerminatedReason | 'out-of-service' | 'orphaned' | 'unscheduled';
/** The last two are of the optional limits, which kube-controller-manager has not. */
type TerminatedReason = 'terminated' | 'terminated-in-namespace' | 'terminated-long-ago';

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
  /** Optional limits besides the threshold. */
  readonly limits?: TerminatedLimits;
}

/** Limits of terminated pods (LIFE-066). */
export interface TerminatedLimits {
  /** Maximum number in one namespace; 0 means none. */
  readonly perNamespace: number;
  /** Time that a pod stays after it finished, ms; 0 means for ever. */
  readonly ttlMs: number;
  /** Epoch ms. */
  readonly now: number;
  /** Whether the pod belongs to a Job that may still count it, so that it has no TTL. */
  readonly isOfUnfinishedJob: (pod: Pod) => boolean;
}

interface PodGcPass {
  /** Pods in the order of deletion. A pod may occur for two reasons; the first deletes it. */
  readonly deletions: readonly PodDeletion[];
  /** Nodes that pods name and the cache lacks, each once. */
  readonly missingNodes: readonly string[];
  /** Epoch ms at which the TTL of the next pod is over; undefined if no pod has one. */
  readonly nextEndMs: number | undefined;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const UNFINISHED: ReadonlySet<string> = new Set(['Pending', 'Running', 'Unknown']);

/** An empty phase counts as terminated (LIFE-050). */
export function isTerminated(pod: Pod): boolean {
  return !UNFINISHED.has(pod.status?.phase ?? '');
}

/** One pass of the pod garbage collector over all pods (LIFE-050 to LIFE-059, LIFE-066; `pkg/controller/podgc`). */
export function decidePass({ pods, nodes, threshold, gone, limits }: PodGcFacts): PodGcPass {
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
  const terminated = pods.filter(isTerminated);
  const beyond = beyondLimits(terminated, limits);
  const surplus = surplusOf(terminated, threshold, 'terminated');
  const deletions = [...surplus, ...beyond.deletions, ...outOfService, ...orphaned, ...unscheduled];
  const seen = new Set<Pod>();
  return {
    deletions: deletions.filter(({ pod }) => !seen.has(pod) && seen.add(pod)),
    missingNodes: [...missing],
    nextEndMs: beyond.nextEndMs,
  };
}

/** True for a node that an administrator has given up: not ready, with the out-of-service taint of any value or effect (LIFE-056). */
export function isOutOfService(node: Node): boolean {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready !== 'True' && (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}

/** True for a pod that ended by itself, and is deleted because there are too many or because it is old. */
export function isOfTerminated({ reason }: PodDeletion): boolean {
  return reason === 'terminated' || reason === 'terminated-in-namespace' || reason === 'terminated-long-ago';
}

/** Evicted pods first, then the oldest, then by name (LIFE-052). */
function inOrder(pods: readonly Pod[]): readonly Pod[] {
  const rank = (pod: Pod) => (pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted' ? 0 : 1);
  const age = (pod: Pod) => parseTime(pod.metadata?.creationTimestamp ?? '') ?? 0;
  const name = (pod: Pod) => pod.metadata?.name ?? '';
  return pods.toSorted((a, b) => rank(a) - rank(b) || age(a) - age(b) || (name(a) < name(b) ? -1 : 1));
}

/** The first of the pods, so many that the threshold is kept; none with a threshold of 0 or less (LIFE-051, LIFE-053). */
function surplusOf(pods: readonly Pod[], threshold: number, reason: TerminatedReason): PodDeletion[] {
  const count = pods.length - threshold;
  if (threshold <= 0 || count <= 0) return [];
  return inOrder(pods)
    .slice(0, count)
    .map((pod) => ({ pod, reason }));
}

/** The terminated pods beyond the optional limits, and when the TTL of the next one is over. */
function beyondLimits(
  pods: readonly Pod[],
  limits: TerminatedLimits | undefined,
): { readonly deletions: readonly PodDeletion[]; readonly nextEndMs: number | undefined } {
  if (limits === undefined) return { deletions: [], nextEndMs: undefined };
  const { perNamespace, ttlMs, now, isOfUnfinishedJob } = limits;
  const namespaces =
    perNamespace > 0 ? grouped(pods, ({ metadata }) => metadata?.namespace ?? '') : new Map<string, Pod[]>();
  const surplus = [...namespaces.values()].flatMap((each) => surplusOf(each, perNamespace, 'terminated-in-namespace'));
  const old: Pod[] = [];
  let nextEndMs: number | undefined;
  for (const pod of ttlMs > 0 ? pods : []) {
    const end = podEnd(pod);
    if (end === undefined || isOfUnfinishedJob(pod)) continue;
    if (end + ttlMs <= now) old.push(pod);
    else nextEndMs = Math.min(nextEndMs ?? Number.POSITIVE_INFINITY, end + ttlMs);
  }
  const expired = inOrder(old).map((pod): PodDeletion => ({ pod, reason: 'terminated-long-ago' }));
  return { deletions: [...surplus, ...expired], nextEndMs };
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
