import type { ReplicaSet } from '../replicaset/replica-set.ts';
import { type Deployment, desiredReplicas, fenceposts, isRollingUpdate } from './deployment.ts';
import { byCreation, desiredAnnotation, maxReplicasAnnotation } from './revisions.ts';

/** New size of a ReplicaSet. */
export interface Resize {
  readonly replicaSet: ReplicaSet;
  readonly replicas: number;
}

export const sizeOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 0;
export const total = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, each) => sum + sizeOf(each), 0);
export const active = (sets: readonly ReplicaSet[]): ReplicaSet[] => sets.filter((each) => sizeOf(each) > 0);
const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;

/** The size of the new ReplicaSet, given those of the others (`NewRSNewReplicas`). Pure. */
export function newReplicaSetSize(deployment: Deployment, present: number, allReplicas: number): number {
  const desired = desiredReplicas(deployment);
  if (!isRollingUpdate(deployment)) return desired;
  const room = desired + fenceposts(deployment).maxSurge - allReplicas;
  return room <= 0 ? present : present + Math.min(room, desired - present);
}

/** Scales old ReplicaSets down as far as availability allows, unhealthy pods first (LIFE-307; `reconcileOldReplicaSets`). Pure. */
export function shrinkOld(deployment: Deployment, newOne: ReplicaSet, old: readonly ReplicaSet[]): Resize[] {
  const least = desiredReplicas(deployment) - fenceposts(deployment).maxUnavailable;
  const unavailableNew = sizeOf(newOne) - availableOf(newOne);
  const most = total(old) + sizeOf(newOne) - least - unavailableNew;
  if (total(old) === 0 || most <= 0) return [];
  const oldest = old.toSorted(byCreation);
  const sizes = new Map(oldest.map((each) => [each, sizeOf(each)]));
  let unhealthy = most;
  for (const each of oldest) {
    const down = Math.max(0, Math.min(unhealthy, sizeOf(each) - availableOf(each)));
    sizes.set(each, sizeOf(each) - down);
    unhealthy -= down;
  }
  let healthy = [...old, newOne].reduce((sum, each) => sum + availableOf(each), 0) - least;
  for (const each of oldest) {
    const down = Math.max(0, Math.min(healthy, sizes.get(each)!));
    sizes.set(each, sizes.get(each)! - down);
    healthy -= down;
  }
  return oldest
    .filter((each) => sizes.get(each) !== sizeOf(each))
    .map((replicaSet) => ({ replicaSet, replicas: sizes.get(replicaSet)! }));
}

/** Distributes a changed number of replicas outside of a rollout (LIFE-313; `scale`). Pure. */
export function rescale(deployment: Deployment, newOne: ReplicaSet | undefined, old: readonly ReplicaSet[]): Resize[] {
  const desired = desiredReplicas(deployment);
  const all = newOne === undefined ? old : [...old, newOne];
  const running = active(all);
  const only = running.length > 1 ? undefined : (running[0] ?? newOne ?? old.toSorted(byCreation).at(-1));
  if (only !== undefined) {
    const fits = sizeOf(only) === desired && (desiredAnnotation(only) ?? desired) === desired;
    return fits ? [] : [{ replicaSet: only, replicas: desired }];
  }
  if (newOne !== undefined && isSaturated(deployment, newOne)) {
    return active(old).map((replicaSet) => ({ replicaSet, replicas: 0 }));
  }
  return isRollingUpdate(deployment) ? proportional(deployment, running) : [];
}

function isSaturated(deployment: Deployment, newOne: ReplicaSet): boolean {
  const desired = desiredReplicas(deployment);
  return sizeOf(newOne) === desired && desiredAnnotation(newOne) === desired && availableOf(newOne) === desired;
}

/** Largest first; the remainder of rounding goes to the first. All get the requested number as annotation. */
function proportional(deployment: Deployment, running: readonly ReplicaSet[]): Resize[] {
  const desired = desiredReplicas(deployment);
  const allowed = desired > 0 ? desired + fenceposts(deployment).maxSurge : 0;
  const toAdd = allowed - total(running);
  const ordered = running.toSorted(
    (a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byCreation(b, a) : byCreation(a, b)),
  );
  let added = 0;
  const resizes = ordered.map((replicaSet) => {
    const share = proportion(deployment, replicaSet, toAdd, added);
    added += share;
    return { replicaSet, replicas: sizeOf(replicaSet) + share };
  });
  return resizes.map((resize, index) =>
    index === 0 ? { ...resize, replicas: Math.max(0, resize.replicas + toAdd - added) } : resize,
  );
}

function proportion(deployment: Deployment, replicaSet: ReplicaSet, toAdd: number, added: number): number {
  if (toAdd === 0 || toAdd === added) return 0;
  const share = fraction(deployment, replicaSet);
  return toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added);
}

function fraction(deployment: Deployment, replicaSet: ReplicaSet): number {
  const desired = desiredReplicas(deployment);
  const size = sizeOf(replicaSet);
  if (desired === 0) return -size;
  const before = maxReplicasAnnotation(replicaSet) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((size * (desired + fenceposts(deployment).maxSurge)) / before) - size;
}
