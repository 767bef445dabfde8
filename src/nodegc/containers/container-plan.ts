import type { RuntimeContainer } from '../inventory/runtime.ts';

export type ContainerRemovalReason = 'podDeleted' | 'pressure' | 'perUnit' | 'total' | 'maximumAge';

export interface ContainerRemoval {
  readonly container: RuntimeContainer;
  readonly reason: ContainerRemovalReason;
}

/** Answers about pods. Before the sources are ready, both answers are false for an unknown pod (NODE-102). */
export interface PodVerdicts {
  readonly ready: boolean;
  contentShouldBeRemoved(podUid: string): boolean;
  runtimeShouldBeRemoved(podUid: string): boolean;
}

export interface ContainerPlanFacts {
  readonly containers: readonly RuntimeContainer[];
  readonly pods: PodVerdicts;
  /** Nanoseconds since the epoch. */
  readonly now: bigint;
  readonly minAge: bigint;
  readonly maxPerPodContainer: number;
  readonly maxContainers: number;
  /** Under pressure, containers of pods that are terminated but not deleted are removed as well (NODE-111). */
  readonly pressure: boolean;
  readonly collectForeign: boolean;
  readonly useAllPlaces?: boolean;
  /** When each container ended, where the age counts from there instead of from its creation (NODE-222). */
  readonly finishedAt?: ReadonlyMap<string, bigint>;
  readonly maxAge?: bigint;
}

/** Dead containers with the same name in the same pod, newest first. */
type Unit = RuntimeContainer[];

const newestFirst = (a: RuntimeContainer, b: RuntimeContainer): number =>
  a.createdAt === b.createdAt
    ? b.attempt - a.attempt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
    : a.createdAt > b.createdAt
      ? -1
      : 1;

/** Dead containers that are old enough (NODE-081). */
function evictable(facts: ContainerPlanFacts): RuntimeContainer[] {
  const { containers, now, minAge, collectForeign, finishedAt } = facts;
  return containers.filter((container) => {
    if (container.state === 'running') return false;
    if (container.podUid === '' && !collectForeign) return false;
    const finished = finishedAt?.get(container.id) ?? 0n;
    const since = finished > container.createdAt ? finished : container.createdAt;
    return since <= now - minAge;
  });
}

function unitsOf(containers: readonly RuntimeContainer[]): Map<string, Unit> {
  const units = new Map<string, Unit>();
  for (const container of containers) {
    const key = `${container.podUid}/${container.name}`;
    const unit = units.get(key);
    if (unit === undefined) units.set(key, [container]);
    else unit.push(container);
  }
  for (const unit of units.values()) unit.sort(newestFirst);
  return new Map([...units].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Chooses the dead containers to remove, in order (NODE-083 to NODE-086). Within a unit, the oldest is removed first. */
export function planContainers(facts: ContainerPlanFacts): ContainerRemoval[] {
  const { pods, pressure, maxPerPodContainer, maxContainers, useAllPlaces = false, maxAge = 0n, now } = facts;
  const units = unitsOf(evictable(facts));
  const plan: ContainerRemoval[] = [];
  const drop = (gone: readonly RuntimeContainer[], reason: ContainerRemovalReason): void => {
    for (const container of gone.toReversed()) plan.push({ container, reason });
  };
  const trim = (keep: number, reason: ContainerRemovalReason): void => {
    for (const [key, unit] of units) {
      drop(unit.splice(keep), reason);
      if (unit.length === 0) units.delete(key);
    }
  };
  if (pods.ready) {
    for (const [key, unit] of units) {
      const [{ podUid }] = unit as [RuntimeContainer];
      const content = pods.contentShouldBeRemoved(podUid);
      if (!content && !(pressure && pods.runtimeShouldBeRemoved(podUid))) continue;
      drop(unit, content ? 'podDeleted' : 'pressure');
      units.delete(key);
    }
  }
  if (maxAge > 0n) {
    for (const [key, unit] of units) {
      const keep = unit.findIndex(({ createdAt }) => now - createdAt > maxAge);
      if (keep >= 0) drop(unit.splice(keep), 'maximumAge');
      if (unit.length === 0) units.delete(key);
    }
  }
  if (maxPerPodContainer >= 0) trim(maxPerPodContainer, 'perUnit');
  const left = (): number => [...units.values()].reduce((sum, unit) => sum + unit.length, 0);
  if (maxContainers < 0 || left() <= maxContainers) return plan;
  if (useAllPlaces) {
    const newest = [...units.values()].map(([first]) => first!).toSorted(newestFirst);
    const rest = [...units.values()].flatMap((unit) => unit.slice(1)).toSorted(newestFirst);
    drop([...newest, ...rest].slice(maxContainers).toSorted(newestFirst), 'total');
    return plan;
  }
  trim(Math.max(1, Math.floor(maxContainers / units.size)), 'total');
  if (left() > maxContainers) {
    drop([...units.values()].flat().toSorted(newestFirst).slice(maxContainers), 'total');
  }
  return plan;
}

const GRACE_ANNOTATIONS = [
  'io.kubernetes.container.terminationGracePeriod',
  'io.kubernetes.pod.terminationGracePeriod',
] as const;
const SHORTEST_GRACE_SECONDS = 2;

/** Seconds that a container in an unknown state gets to stop before it is removed (NODE-087). */
export function stopGraceSeconds(annotations: Readonly<Record<string, string>>): number {
  for (const name of GRACE_ANNOTATIONS) {
    const value = annotations[name];
    if (value !== undefined && /^\d{1,9}$/.test(value)) return Math.max(SHORTEST_GRACE_SECONDS, Number(value));
  }
  return SHORTEST_GRACE_SECONDS;
}
