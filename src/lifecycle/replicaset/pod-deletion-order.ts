import { parseTime } from '../../api/meta/time.ts';
import { podReadySince } from '../pods/pod-availability.ts';
import { type ContainerStatus, isPodReady, type Pod } from '../pods/pod-object.ts';

/** Pods with a lower cost are deleted first. An int32; 0 if absent or malformed. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

interface Ranked {
  readonly pod: Pod;
  /** Number of active related pods on its node. */
  readonly rank: number;
}

/**
 * The first `count` pods that an owner deletes (LIFE-265; `controller_utils.go` `ActivePodsWithRanks`). `related` are the active pods of
 * all owners with the same controller; `now` in epoch ms. Pure.
 */
export function podsToDelete(
  pods: readonly Pod[],
  { count, related, now }: { readonly count: number; readonly related: readonly Pod[]; readonly now: number },
): Pod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const { spec } of related) onNode.set(spec?.nodeName ?? '', (onNode.get(spec?.nodeName ?? '') ?? 0) + 1);
  const ranked = pods.map((pod): Ranked => ({ pod, rank: onNode.get(pod.spec?.nodeName ?? '') ?? 0 }));
  return ranked
    .toSorted((a, b) => compare(a, b, now))
    .slice(0, count)
    .map(({ pod }) => pod);
}

function compare(a: Ranked, b: Ranked, now: number): number {
  return (
    flag(isAssigned(a.pod), isAssigned(b.pod)) ||
    phase(a.pod) - phase(b.pod) ||
    flag(isPodReady(a.pod), isPodReady(b.pod)) ||
    cost(a.pod) - cost(b.pod) ||
    b.rank - a.rank ||
    (isPodReady(a.pod) && isPodReady(b.pod) ? byAge(a.pod, b.pod, { of: podReadySince, now }) : 0) ||
    restarts(b.pod) - restarts(a.pod) ||
    byAge(a.pod, b.pod, { of: createdAt, now })
  );
}

function byAge(a: Pod, b: Pod, { of, now }: { of: (pod: Pod) => number | undefined; now: number }): number {
  const [first, second] = [of(a), of(b)];
  if (first === second) return 0;
  if (first === undefined) return -1;
  if (second === undefined) return 1;
  const rank = logarithm(now - first) - logarithm(now - second);
  if (rank !== 0) return rank;
  return (a.metadata?.uid ?? '') < (b.metadata?.uid ?? '') ? -1 : 1;
}

/** The power of two of an age in nanoseconds, as upstream; -1 for a negative age. */
function logarithm(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * 1e6)) : -1;
}

const flag = (a: boolean, b: boolean): number => Number(a) - Number(b);
const isAssigned = (pod: Pod): boolean => (pod.spec?.nodeName ?? '') !== '';
const phase = (pod: Pod): number => PHASES[pod.status?.phase ?? ''] ?? 0;

function cost({ metadata }: Pod): number {
  const text = metadata?.annotations?.[DELETION_COST] ?? '';
  if (!/^(0|-?[1-9]\d*)$/.test(text)) return 0;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : 0;
}

function restarts({ spec, status }: Pod): number {
  const most = (statuses: readonly ContainerStatus[] | undefined): number =>
    Math.max(0, ...(statuses ?? []).map(({ restartCount }) => restartCount));
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always').map((each) => each.name),
  );
  const sidecarStatuses = status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name));
  return most(status?.containerStatuses) * 2 ** 20 + most(sidecarStatuses);
}

const createdAt = ({ metadata }: Pod): number | undefined =>
  metadata?.creationTimestamp ? parseTime(metadata.creationTimestamp) : undefined;
