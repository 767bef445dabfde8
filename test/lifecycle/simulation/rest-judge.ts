import { isJobFinished, isTracked } from './job-judge.ts';
import { allowance } from './rollout-judge.ts';
import {
  controllerOf,
  hasCondition,
  isActive,
  isFinished,
  isTerminating,
  sameTemplate,
  selects,
  show,
  specReplicas,
  type Stored,
  type StoredWorkloads,
} from './stored-workloads.ts';

const READY_AFTER = 'kubegc.io/sim-ready-after';
const FAIL_AFTER = 'kubegc.io/sim-fail-after';
const SUCCEED_AFTER = 'kubegc.io/sim-succeed-after';

/** ReplicaSets that have another number of pods than they ask for, by their lines. */
export function unsatisfied(objects: StoredWorkloads): Map<string, string> {
  const found = new Map<string, string>();
  for (const set of objects.of('ReplicaSet')) {
    if (isTerminating(set)) continue;
    const active = objects.controlledBy(set, 'Pod').filter(isActive).length;
    if (active !== specReplicas(set)) {
      found.set(show(set), `LIFE-261 ${show(set)} has ${active} pods and asks for ${specReplicas(set)}`);
    }
  }
  return found;
}

/** Everything that is wrong although nothing has changed for long. */
export function wrongAtRest(objects: StoredWorkloads): string[] {
  return new RestJudge(objects).all();
}

class RestJudge {
  readonly #objects: StoredWorkloads;
  readonly #wrong: string[] = [];
  readonly #nodes: readonly Stored[];

  constructor(objects: StoredWorkloads) {
    this.#objects = objects;
    this.#nodes = objects.of('Node').filter((node) => !isTerminating(node));
  }

  all(): string[] {
    this.#wrong.push(...unsatisfied(this.#objects).values());
    const judges: Readonly<Record<string, (object: Stored) => void>> = {
      ReplicaSet: (set) => this.#status(set, this.#objects.controlledBy(set, 'Pod').filter(isActive).length),
      Deployment: (deployment) => this.#deployment(deployment),
      StatefulSet: (set) => this.#statefulSet(set),
      DaemonSet: (set) => this.#daemonSet(set),
      Job: (job) => this.#job(job),
      CronJob: (cronJob) => this.#cronJob(cronJob),
    };
    for (const object of this.#objects.all()) {
      this.#leftover(object);
      if (!isTerminating(object)) judges[object.kind]?.(object);
    }
    this.#orphans();
    for (const pod of this.#objects.of('Pod')) this.#finalizer(pod);
    return this.#wrong;
  }

  #say(what: string): void {
    this.#wrong.push(what);
  }

  /** A pod of this template becomes ready sooner or later. */
  #canBeReady({ spec }: Stored): boolean {
    const { annotations = {} } = (spec?.template?.metadata ?? {}) as { annotations?: Record<string, string> };
    const isOpen = ({ spec: node }: Stored): boolean => node?.unschedulable !== true;
    return annotations[READY_AFTER] !== 'never' && annotations[FAIL_AFTER] === undefined && this.#nodes.some(isOpen);
  }

  #status(object: Stored, replicas: number): void {
    const { metadata, status } = object;
    if ((status?.replicas ?? 0) !== replicas) {
      this.#say(`LIFE-266 ${show(object)} says it has ${status?.replicas ?? 0} pods and has ${replicas}`);
    }
    if (status?.observedGeneration !== metadata?.generation) {
      this.#say(`LIFE-266 ${show(object)} has not observed its generation ${metadata?.generation ?? 0}`);
    }
  }

  #deployment(deployment: Stored): void {
    const sets = this.#objects.controlledBy(deployment, 'ReplicaSet').filter((set) => !isTerminating(set));
    const sum = sets.reduce((total, set) => total + specReplicas(set), 0);
    const { most } = allowance(deployment);
    if (sum > most) this.#say(`LIFE-307 ${show(deployment)} rests with ${sum} pods and allows ${most}`);
    if (deployment.status?.observedGeneration !== deployment.metadata?.generation) {
      this.#say(`LIFE-314 ${show(deployment)} has not observed its generation`);
    }
    if (deployment.spec?.paused === true) return;
    const current = sets.filter((set) => sameTemplate(set, deployment));
    if (current.length === 0) return this.#say(`LIFE-302 ${show(deployment)} has no ReplicaSet of its template`);
    if (!this.#canBeReady(deployment)) return;
    const asked = current.reduce((total, set) => total + specReplicas(set), 0);
    if (asked !== specReplicas(deployment) || sum !== asked) {
      this.#say(
        `LIFE-307 ${show(deployment)} rests with ${asked} new of ${sum} pods and asks for ${specReplicas(deployment)}`,
      );
    }
  }

  #statefulSet(set: Stored): void {
    const pods = this.#objects.controlledBy(set, 'Pod').filter(isActive);
    if (pods.length > specReplicas(set)) this.#say(`LIFE-610 ${show(set)} rests with ${pods.length} pods`);
    const isStuck = ({ metadata }: Stored): boolean =>
      metadata?.annotations?.[READY_AFTER] === 'never' || metadata?.annotations?.[FAIL_AFTER] !== undefined;
    if (!this.#canBeReady(set) || pods.some(isStuck)) return;
    const names = pods.map(({ metadata }) => metadata?.name).toSorted();
    const wanted = Array.from({ length: specReplicas(set) }, (_, index) => `${set.metadata?.name ?? ''}-${index}`);
    if (names.join(' ') === wanted.join(' ')) return this.#status(set, pods.length);
    // A pod that somebody else owns, or that stays because of its own finalizer, has the name of one of its pods.
    const taken = this.#objects.of('Pod').filter(({ metadata }) => metadata?.namespace === set.metadata?.namespace);
    const isTaken = (name: string): boolean =>
      taken.some((pod) => pod.metadata?.name === name && !pods.includes(pod) && !isFinished(pod));
    if (wanted.some(isTaken)) return;
    this.#say(`LIFE-615 ${show(set)} rests with the pods ${names.join(' ')} and asks for ${specReplicas(set)}`);
  }

  #daemonSet(set: Stored): void {
    // An adopted pod that is meant for no node, and that no scheduler can place, counts for no node: it stays, as in Kubernetes.
    const hasNode = ({ spec }: Stored): boolean => Boolean(spec?.nodeName) || spec?.affinity !== undefined;
    const pods = this.#objects.controlledBy(set, 'Pod').filter((pod) => isActive(pod) && hasNode(pod));
    if (pods.length !== this.#nodes.length) {
      this.#say(`LIFE-641 ${show(set)} rests with ${pods.length} pods on ${this.#nodes.length} nodes`);
    }
  }

  #job(job: Stored): void {
    const active = this.#objects.controlledBy(job, 'Pod').filter(isActive);
    if (isJobFinished(job) || job.spec?.suspend === true) {
      if (active.length > 0)
        this.#say(`LIFE-357 ${show(job)} is finished or suspended and has ${active.length} active pods`);
      const { ttlSecondsAfterFinished: ttl } = (job.spec ?? {}) as { ttlSecondsAfterFinished?: number };
      if (isJobFinished(job) && ttl !== undefined) this.#say(`LIFE-081 ${show(job)} outlives its time of ${ttl} s`);
      return;
    }
    const { annotations = {} } = (job.spec?.template?.metadata ?? {}) as { annotations?: Record<string, string> };
    const { parallelism = 1, completions = 1 } = job.spec ?? {};
    if (annotations[SUCCEED_AFTER] !== 'never') {
      const isOpen = this.#nodes.some(({ spec }) => spec?.unschedulable !== true);
      if (isOpen && parallelism > 0) this.#say(`LIFE-357 ${show(job)} does not finish`);
      return;
    }
    const asked = Math.min(parallelism, completions - (job.status?.succeeded ?? 0));
    if (active.length !== asked) this.#say(`LIFE-357 ${show(job)} has ${active.length} pods and asks for ${asked}`);
  }

  #cronJob(cronJob: Stored): void {
    const jobs = this.#objects.controlledBy(cronJob, 'Job').filter((job) => !isTerminating(job));
    const complete = jobs.filter((job) => hasCondition(job, 'Complete')).length;
    const failed = jobs.filter((job) => hasCondition(job, 'Failed')).length;
    if (complete > 2 || failed > 1)
      this.#say(`LIFE-401 ${show(cronJob)} keeps ${complete} complete and ${failed} failed Jobs`);
  }

  /** An object without a living owner, and one whose deletion does not end. */
  #leftover(object: Stored): void {
    const owners = object.metadata?.ownerReferences ?? [];
    if (owners.length > 0 && owners.every(({ uid }) => this.#objects.withUid(uid) === undefined)) {
      this.#say(`COL-001 ${show(object)} is left although all of its owners are gone`);
    }
    if (isTerminating(object) && !this.#isUsedClaim(object)) {
      this.#say(
        `${show(object)} is being deleted and stays, with the finalizers ${object.metadata?.finalizers?.join(' ') ?? ''}`,
      );
    }
  }

  /** A claim stays while a pod uses it (LIFE-151). */
  #isUsedClaim({ kind, metadata }: Stored): boolean {
    if (kind !== 'PersistentVolumeClaim') return false;
    return this.#objects
      .of('Pod')
      .some(
        (pod) =>
          pod.metadata?.namespace === metadata?.namespace &&
          pod.spec?.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === metadata?.name),
      );
  }

  /** LIFE-220: whoever is an orphan is adopted by the living controller that matches. */
  #orphans(): void {
    const isAdopted: Readonly<Record<string, (owner: Stored, child: Stored) => boolean>> = {
      Deployment: (owner, child) => child.kind === 'ReplicaSet' && selects(owner, child),
      ReplicaSet: (owner, child) => child.kind === 'Pod' && isActive(child) && selects(owner, child),
      DaemonSet: (owner, child) => child.kind === 'Pod' && selects(owner, child),
      Job: (owner, child) => child.kind === 'Pod' && !isJobFinished(owner) && selects(owner, child),
      StatefulSet: (owner, child) =>
        child.kind === 'Pod' &&
        selects(owner, child) &&
        new RegExp(`^${owner.metadata?.name ?? ''}-\\d+$`).test(child.metadata?.name ?? ''),
    };
    const objects = [...this.#objects.all()];
    const owners = objects.filter((object) => object.kind in isAdopted && !isTerminating(object));
    for (const child of objects) {
      if (controllerOf(child) !== undefined || isTerminating(child)) continue;
      for (const owner of owners) {
        if (owner.metadata?.namespace !== child.metadata?.namespace) continue;
        if (isAdopted[owner.kind]?.(owner, child) === true)
          this.#say(`LIFE-220 ${show(child)} is an orphan that ${show(owner)} matches`);
      }
    }
  }

  /** LIFE-354: the finalizer stays only on pods of a Job that has still to count them. */
  #finalizer(pod: Stored): void {
    if (!isTracked(pod)) return;
    const owner = controllerOf(pod);
    const job = owner === undefined ? undefined : this.#objects.withUid(owner.uid);
    if (job === undefined || isJobFinished(job) || isTerminating(job)) {
      this.#say(`LIFE-354 ${show(pod)} keeps the finalizer of its Job`);
    } else if (isFinished(pod)) this.#say(`LIFE-352 ${show(pod)} is finished and keeps the finalizer of its Job`);
  }
}
