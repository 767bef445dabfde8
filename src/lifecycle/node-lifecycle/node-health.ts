import type { Condition } from '../../api/meta/conditions.ts';
import { type Node, readyConditionOf, type Taint } from '../pods/pod-object.ts';

export const NOT_READY = 'node.kubernetes.io/not-ready';
export const UNREACHABLE = 'node.kubernetes.io/unreachable';
const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** The last sign of life of a node, on our own clock, because a kubelet's clock may be wrong. */
export interface Heartbeat {
  /** The last `renewTime` of its lease, and heartbeat of its Ready condition. */
  readonly seen: string;
  readonly atMs: number;
}

export interface HealthTimes {
  readonly gracePeriodMs: number;
  /** The grace period of a node that never reported a condition. */
  readonly startupGracePeriodMs: number;
}

/** The heartbeat after the node and its lease were read. A change counts from now on. */
export function nextHeartbeat(known: Heartbeat | undefined, seen: string, now: number): Heartbeat {
  return known !== undefined && known.seen === seen ? known : { seen, atMs: now };
}

/**
 * The conditions of a node that has been silent for too long (LIFE-180); undefined if it reports, or already has them. `at` is the time for
 * the conditions, RFC 3339.
 */
export function silentConditions(
  node: Node,
  {
    heartbeat,
    now,
    at,
    times,
  }: { readonly heartbeat: Heartbeat; readonly now: number; readonly at: string; readonly times: HealthTimes },
): readonly Condition[] | undefined {
  const conditions = node.status?.conditions ?? [];
  const grace = readyConditionOf(node) === undefined ? times.startupGracePeriodMs : times.gracePeriodMs;
  if (now - heartbeat.atMs <= grace) return undefined;
  const unknown = (type: string): Condition => {
    const current = conditions.find((condition) => condition.type === type);
    if (current === undefined) {
      const message = 'Kubelet never posted node status.';
      return {
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message,
        lastHeartbeatTime: node.metadata?.creationTimestamp ?? at,
        lastTransitionTime: at,
      } as Condition;
    }
    if (current.status === 'Unknown') return current;
    const message = 'Kubelet stopped posting node status.';
    return { ...current, status: 'Unknown', reason: 'NodeStatusUnknown', message, lastTransitionTime: at };
  };
  const next = CONDITIONS.map(unknown);
  const others = conditions.filter(({ type }) => !CONDITIONS.some((name) => name === type));
  const isChanged = next.some((condition) => !conditions.includes(condition));
  return isChanged ? [...others, ...next] : undefined;
}

export type TaintDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'ready' | 'tainted' }
  /** At once: the node is ready again, or needs the other of the two taints. */
  | { readonly verdict: 'set'; readonly reason: 'ready' | 'swap'; readonly taints: readonly Taint[] }
  /** At the rate of its zone: the node just became not ready. */
  | { readonly verdict: 'queue'; readonly reason: 'notReady' | 'unreachable'; readonly taints: readonly Taint[] };

/** The `NoExecute` taint for the Ready condition (LIFE-181). `at` is the taint's `timeAdded`. */
export function decideTaints(node: Node, at: string): TaintDecision {
  const taints = node.spec?.taints ?? [];
  const isOurs = ({ key, effect }: Taint): boolean =>
    effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE);
  const others = taints.filter((taint) => !isOurs(taint));
  const ours = taints.filter(isOurs);
  const status = readyConditionOf(node)?.status;
  if (status === 'True' || status === undefined) {
    return ours.length === 0
      ? { verdict: 'nothing', reason: 'ready' }
      : { verdict: 'set', reason: 'ready', taints: others };
  }
  const wanted = status === 'False' ? NOT_READY : UNREACHABLE;
  if (ours.length === 1 && ours[0]?.key === wanted) return { verdict: 'nothing', reason: 'tainted' };
  const next = [...others, { key: wanted, effect: 'NoExecute', timeAdded: at }];
  if (ours.length > 0) return { verdict: 'set', reason: 'swap', taints: next };
  return { verdict: 'queue', reason: wanted === NOT_READY ? 'notReady' : 'unreachable', taints: next };
}

/** Number of taints per second for a zone (LIFE-181). If most of a zone is silent, a broken network is more likely than broken nodes. */
export function zoneRate({
  notReady,
  nodes,
  clusterNodes,
}: {
  readonly notReady: number;
  readonly nodes: number;
  readonly clusterNodes: number;
}): number {
  const isPartlyDown = notReady >= 3 && notReady / nodes >= UNHEALTHY_SHARE;
  if (!isPartlyDown) return USUAL_RATE;
  return clusterNodes > LARGE_CLUSTER ? REDUCED_RATE : 0;
}

const UNHEALTHY_SHARE = 0.55;
const USUAL_RATE = 0.1;
const REDUCED_RATE = 0.01;
const LARGE_CLUSTER = 50;

/** The region and zone of a node, from its labels. */
export function zoneOf({ metadata }: Node): string {
  const labels = metadata?.labels ?? {};
  return `${labels['topology.kubernetes.io/region'] ?? ''}:${labels['topology.kubernetes.io/zone'] ?? ''}`;
}
