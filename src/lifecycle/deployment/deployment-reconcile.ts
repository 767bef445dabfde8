import { findCondition } from '../../api/meta/conditions.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  desiredReplicas,
  historyLimit,
  isRollingUpdate,
  progressDeadline,
} from './deployment.ts';
import { deploymentCounts, isComplete, rolloutStatus, withDeploymentCondition } from './deployment-status.ts';
import {
  asNewReplicaSet,
  byRevision,
  desiredAnnotation,
  findNewReplicaSet,
  newReplicaSet,
  REVISION,
  revisionOf,
  withReplicas,
} from './revisions.ts';
import { active, newReplicaSetSize, rescale, type Resize, shrinkOld, sizeOf, total } from './scaling.ts';

export type DeploymentAction =
  | { readonly verb: 'create'; readonly replicaSet: ReplicaSet }
  /** `from` is the old size if it changes. */
  | { readonly verb: 'update'; readonly replicaSet: ReplicaSet; readonly from?: number }
  | { readonly verb: 'delete'; readonly replicaSet: ReplicaSet };

export interface DeploymentPlan {
  readonly reason:
    | 'terminating'
    | 'paused'
    | 'scaling'
    | 'new ReplicaSet'
    | 'scale up'
    | 'scale down'
    | 'wait for old pods'
    | 'as it should be';
  readonly actions: readonly DeploymentAction[];
  /** Written with the status after the actions. */
  readonly revision: string | undefined;
  readonly status: DeploymentStatus;
}

interface DeploymentFacts {
  readonly deployment: Deployment;
  /** Claimed ReplicaSets. */
  readonly all: readonly ReplicaSet[];
  /** True if any pod of these ReplicaSets has not finished; called only for strategy Recreate. */
  readonly podsRemain: (old: readonly ReplicaSet[]) => boolean;
  /** Deletes surplus old ReplicaSets also while a rollout makes no progress (LIFE-315). */
  readonly cleanUpDuringRollout?: boolean;
  /** Epoch ms. */
  readonly now: number;
}

/** The actions of one sync of a Deployment, in order, and the status afterwards (LIFE-300 to LIFE-314). Pure. */
export function planDeployment(facts: DeploymentFacts): DeploymentPlan {
  return new Planner(facts).plan();
}

class Planner {
  readonly #facts: DeploymentFacts;
  readonly #changes = new Map<ReplicaSet, { readonly replicaSet: ReplicaSet; readonly from?: number }>();
  readonly #old: readonly ReplicaSet[];
  readonly #revision: number;
  #newOne: ReplicaSet | undefined;
  #created: ReplicaSet | undefined;
  #conditions: readonly DeploymentCondition[];
  #deploymentRevision: string | undefined;

  constructor(facts: DeploymentFacts) {
    const { deployment, all } = facts;
    this.#facts = facts;
    this.#newOne = findNewReplicaSet(deployment, all);
    this.#old = all.filter((each) => each !== this.#newOne);
    this.#revision = Math.max(0, ...this.#old.map(revisionOf)) + 1;
    this.#conditions = deployment.status?.conditions ?? [];
  }

  plan(): DeploymentPlan {
    const { deployment, now } = this.#facts;
    if (isTerminating(deployment)) {
      const status = deploymentCounts(deployment, this.#statusFacts());
      return { reason: 'terminating', actions: [], revision: undefined, status };
    }
    this.#pauseOrResume(now);
    this.#adjustNew(now);
    if (deployment.spec?.paused === true) {
      for (const resize of rescale(deployment, this.#newOne, this.#old)) this.#resize(resize);
      return this.#apart('paused', this.#history());
    }
    // The rollout goes on if nothing is to be resized: with strategy Recreate several ReplicaSets do not share a changed number.
    const resizes = this.#isScaling() ? rescale(deployment, this.#newOne, this.#old) : [];
    if (resizes.length > 0) {
      for (const resize of resizes) this.#resize(resize);
      return this.#apart('scaling', []);
    }
    return isRollingUpdate(deployment) ? this.#roll() : this.#recreate();
  }

  #roll(): DeploymentPlan {
    const { deployment } = this.#facts;
    const newOne = this.#newOne;
    if (newOne === undefined) {
      this.#make(newReplicaSetSize(deployment, 0, total(this.#old)));
      return this.#rollout('new ReplicaSet');
    }
    const size = sizeOf(newOne);
    const desired = desiredReplicas(deployment);
    const next = size > desired ? desired : newReplicaSetSize(deployment, size, total(this.#old) + size);
    if (next !== size) {
      this.#resize({ replicaSet: newOne, replicas: next });
      return this.#rollout('scale up');
    }
    const down = shrinkOld(deployment, newOne, active(this.#old));
    for (const resize of down) this.#resize(resize);
    if (down.length > 0) return this.#rollout('scale down');
    return this.#rollout('as it should be', this.#historyWhenComplete());
  }

  #recreate(): DeploymentPlan {
    const { deployment, podsRemain } = this.#facts;
    const running = active(this.#old);
    for (const replicaSet of running) this.#resize({ replicaSet, replicas: 0 });
    if (running.length > 0) return this.#rollout('scale down');
    if (this.#old.some(({ status }) => (status?.replicas ?? 0) > 0) || podsRemain(this.#old)) {
      // A ReplicaSet whose pods terminate has no replicas, but without it nobody would wait for them.
      return this.#rollout(
        'wait for old pods',
        this.#historyWhileStuck().filter((each) => !podsRemain([each])),
      );
    }
    const newOne = this.#newOne;
    if (newOne === undefined) {
      this.#make(desiredReplicas(deployment));
      return this.#rollout('new ReplicaSet');
    }
    if (sizeOf(newOne) !== desiredReplicas(deployment)) {
      this.#resize({ replicaSet: newOne, replicas: desiredReplicas(deployment) });
      return this.#rollout('scale up');
    }
    return this.#rollout('as it should be', this.#historyWhenComplete());
  }

  #pauseOrResume(now: number): void {
    const { deployment } = this.#facts;
    const current = findCondition(this.#conditions, 'Progressing');
    if (progressDeadline(deployment) === undefined || current?.reason === 'ProgressDeadlineExceeded') return;
    const isPaused = deployment.spec?.paused === true;
    const saysPaused = current?.reason === 'DeploymentPaused';
    if (isPaused === saysPaused) return;
    const words = isPaused
      ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
      : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
    this.#conditions = withDeploymentCondition(
      this.#conditions,
      { type: 'Progressing', status: 'Unknown', ...words },
      now,
    );
  }

  /** Sets annotations of the new ReplicaSet, the Deployment's revision, and the condition that it was found. */
  #adjustNew(now: number): void {
    const { deployment } = this.#facts;
    const newOne = this.#newOne;
    if (newOne === undefined) return;
    const adjusted = asNewReplicaSet(newOne, deployment, this.#revision);
    if (adjusted !== newOne) this.#changes.set(newOne, { replicaSet: adjusted });
    this.#deploymentRevision = adjusted.metadata?.annotations?.[REVISION];
    if (progressDeadline(deployment) !== undefined && findCondition(this.#conditions, 'Progressing') === undefined) {
      const message = `Found new replica set "${newOne.metadata?.name ?? ''}"`;
      this.#progress('FoundNewReplicaSet', message, now);
    }
  }

  #make(replicas: number): void {
    const { deployment, now } = this.#facts;
    const replicaSet = newReplicaSet(deployment, { replicas, revision: this.#revision });
    this.#created = replicaSet;
    this.#newOne = replicaSet;
    this.#deploymentRevision = String(this.#revision);
    if (progressDeadline(deployment) !== undefined) {
      this.#progress('NewReplicaSetCreated', `Created new replica set "${replicaSet.metadata?.name ?? ''}"`, now);
    }
  }

  #progress(reason: string, message: string, now: number): void {
    const condition = { type: 'Progressing', status: 'True', reason, message } as const;
    this.#conditions = withDeploymentCondition(this.#conditions, condition, now);
  }

  /** True if the number of replicas changed since the ReplicaSets were last scaled. */
  #isScaling(): boolean {
    const desired = desiredReplicas(this.#facts.deployment);
    return active(this.#facts.all).some((each) => (desiredAnnotation(each) ?? desired) !== desired);
  }

  /** Writes also if the size stays, because the annotations of a ReplicaSet record the requested number. */
  #resize({ replicaSet, replicas }: Resize): void {
    const base = this.#changes.get(replicaSet)?.replicaSet ?? replicaSet;
    const changed = withReplicas(base, replicas, this.#facts.deployment);
    const from = sizeOf(replicaSet);
    this.#changes.set(replicaSet, { replicaSet: changed, ...(from === replicas ? {} : { from }) });
  }

  #historyWhenComplete(): ReplicaSet[] {
    const { deployment } = this.#facts;
    return isComplete(deployment, deployment.status ?? {}) ? this.#history() : this.#historyWhileStuck();
  }

  #historyWhileStuck(): ReplicaSet[] {
    return this.#facts.cleanUpDuringRollout === true ? this.#history() : [];
  }

  /** Old ReplicaSets beyond the limit whose spec and status have no replicas (LIFE-309). */
  #history(): ReplicaSet[] {
    const limit = historyLimit(this.#facts.deployment);
    if (limit === undefined) return [];
    const alive = this.#old.filter((each) => !isTerminating(each) && !this.#changes.has(each)).toSorted(byRevision);
    return alive
      .slice(0, Math.max(0, alive.length - limit))
      .filter(
        ({ metadata, spec, status }) =>
          (spec?.replicas ?? 0) === 0 &&
          (status?.replicas ?? 0) === 0 &&
          (metadata?.generation ?? 0) <= (status?.observedGeneration ?? 0),
      );
  }

  #statusFacts() {
    const { now } = this.#facts;
    const after = (each: ReplicaSet): ReplicaSet => this.#changes.get(each)?.replicaSet ?? each;
    const newOne = this.#newOne === undefined ? undefined : after(this.#newOne);
    const all = [...this.#old.map(after), ...(newOne === undefined ? [] : [newOne])];
    return { all, newOne, now, conditions: this.#conditions };
  }

  #rollout(reason: DeploymentPlan['reason'], history: readonly ReplicaSet[] = []): DeploymentPlan {
    return this.#result(reason, history, rolloutStatus(this.#facts.deployment, this.#statusFacts()));
  }

  /** The status of a sync without a rollout, which does not judge progress. */
  #apart(reason: DeploymentPlan['reason'], history: readonly ReplicaSet[]): DeploymentPlan {
    return this.#result(reason, history, deploymentCounts(this.#facts.deployment, this.#statusFacts()));
  }

  #result(reason: DeploymentPlan['reason'], history: readonly ReplicaSet[], status: DeploymentStatus): DeploymentPlan {
    const actions: DeploymentAction[] = [];
    if (this.#created !== undefined) actions.push({ verb: 'create', replicaSet: this.#created });
    for (const change of this.#changes.values()) actions.push({ verb: 'update', ...change });
    for (const replicaSet of history) actions.push({ verb: 'delete', replicaSet });
    return { reason, actions, revision: this.#deploymentRevision, status };
  }
}
