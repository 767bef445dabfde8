import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isConflict, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { isWithheld } from '../kit/dry-run.ts';
import { eventReference } from '../pods/pod-control.ts';
import { isPodFinished, type Pod, PODS } from '../pods/pod-object.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_CONTROLLER, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import { controllerOf, isControlledBy } from '../ownership/controller-reference.ts';
import { Dependents } from '../ownership/dependents.ts';
import { Expectations } from '../ownership/expectations.ts';
import { ownerSelector, selects } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import { type Deployment, type DeploymentStatus, isRollingUpdate, progressDeadline } from './deployment.ts';
import { type DeploymentAction, type DeploymentPlan, planDeployment } from './deployment-reconcile.ts';
import { deadlineIn, sameStatus, withDeploymentCondition } from './deployment-status.ts';
import { DEPLOYMENT_KIND, REVISION, sameTemplate } from './revisions.ts';

const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' };
const REPLICA_SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' };
const COMPONENT = 'deployment-controller';
const WORKERS = 5;
/** Number of consecutive failures after which a Deployment waits for its next event (LIFE-003). */
const MAX_RETRIES = 15;
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

interface DeploymentControllerOptions extends SharedContext {
  readonly workers?: number;
  /** Deletes surplus old ReplicaSets also while a rollout makes no progress; off by default. */
  readonly cleanUpDuringRollout?: boolean;
}

/** Runs kube-controller-manager's `deployment-controller` (LIFE-300 to LIFE-314). Does nothing for a Deployment while a cache is behind its own writes. */
export class DeploymentController implements Service {
  readonly #options: DeploymentControllerOptions;
  readonly #deployments: SharedCache<Deployment>;
  readonly #replicaSets: SharedCache<ReplicaSet>;
  readonly #pods: SharedCache<Pod>;
  readonly #expectations: Expectations;
  readonly #dependents: Dependents;
  readonly #loop: ReconcileLoop;
  readonly #events: EventRecorder;
  readonly #deletions: Counter;

  constructor(options: DeploymentControllerOptions) {
    const { client, clock, random, logger, metrics, informers } = options;
    this.#options = options;
    this.#deployments = informers.of<Deployment>(DEPLOYMENTS);
    this.#replicaSets = informers.of<ReplicaSet>(REPLICA_SETS);
    this.#pods = informers.of<Pod>(PODS);
    this.#expectations = new Expectations(clock);
    this.#deletions = deletionCounter(metrics);
    this.#events = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
    this.#loop = new ReconcileLoop({
      name: 'deployment',
      clock,
      logger,
      metrics,
      caches: [this.#deployments, this.#replicaSets, this.#pods],
      workers: options.workers ?? WORKERS,
      maxRetries: MAX_RETRIES,
      sync: (key, signal) => this.#sync(key, signal),
    });
    this.#dependents = new Dependents({
      ownerKind: DEPLOYMENT_KIND,
      owners: this.#deployments,
      dependents: this.#replicaSets,
      selects: (owner, replicaSet) => selects(ownerSelector(owner), replicaSet),
      expectations: this.#expectations,
      trigger: (key) => this.#loop.trigger(key),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (owner: KubeObject): void => this.#loop.trigger(keyOf(owner));
    const stops = [
      this.#deployments.addHandler({ added: look, updated: (_, owner) => look(owner), deleted: look }),
      this.#dependents.watch(),
      this.#pods.addHandler({ deleted: (pod) => this.#podDeleted(pod) }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  /** Strategy Recreate waits for the last pod of the old ReplicaSets. */
  #podDeleted(pod: Pod): void {
    const namespace = pod.metadata?.namespace ?? '';
    const owner = controllerOf(pod);
    const replicaSet = owner && this.#replicaSets.get(`${namespace}/${owner.name}`);
    const controller = replicaSet && controllerOf(replicaSet);
    const deployment = controller && this.#deployments.get(`${namespace}/${controller.name}`);
    if (deployment === undefined || isRollingUpdate(deployment)) return;
    this.#loop.trigger(keyOf(deployment));
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock, logger, cleanUpDuringRollout = false } = this.#options;
    const deployment = this.#deployments.get(key);
    if (deployment === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const selector = ownerSelector(deployment);
    if (selector === 'invalid') {
      logger.error('the selector is invalid; change it', { kind: 'Deployment', key });
      return SETTLED;
    }
    if (selector.empty) return this.#selectsAll(key, deployment, signal);
    const all = await this.#claim(deployment, signal);
    const plan = planDeployment({
      deployment,
      all,
      podsRemain: (old) => old.some((each) => this.#hasUnfinishedPods(each)),
      cleanUpDuringRollout,
      now: clock.now(),
    });
    logger.debug('deployment', { key, reason: plan.reason, actions: plan.actions.length });
    try {
      for (const action of plan.actions) {
        if (!(await this.#perform(key, deployment, action, plan, signal))) return { next: 'back-off' };
      }
      if (!(await this.#write(key, deployment, plan, signal))) return { next: 'back-off' };
    } catch (error) {
      if (isConflict(error)) return { next: 'back-off' };
      throw error;
    }
    const wait = deadlineIn(deployment, plan.status, clock.now());
    return wait === undefined ? SETTLED : { next: 'later', afterMs: wait };
  }

  async #selectsAll(key: string, deployment: Deployment, signal: AbortSignal): Promise<SyncOutcome> {
    const { generation = 0 } = deployment.metadata ?? {};
    this.#event(
      deployment,
      'Warning',
      'SelectingAll',
      'This deployment is selecting all pods. A non-empty selector is required.',
    );
    if ((deployment.status?.observedGeneration ?? 0) >= generation) return SETTLED;
    const status = { ...deployment.status, observedGeneration: generation };
    return (await this.#put(key, { ...deployment, status }, signal)) ? SETTLED : { next: 'back-off' };
  }

  async #claim(deployment: Deployment, signal: AbortSignal): Promise<ReplicaSet[]> {
    const { client, clock } = this.#options;
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind: DEPLOYMENT_KIND,
      ownerGvr: DEPLOYMENTS,
      owner: deployment,
      dependentKind: 'ReplicaSet',
      dependents: REPLICA_SETS,
      matches: (replicaSet) => selects(ownerSelector(deployment), replicaSet),
      signal,
    });
    return manager.claim(this.#dependents.candidates<ReplicaSet>(deployment));
  }

  #hasUnfinishedPods({ metadata }: ReplicaSet): boolean {
    return this.#pods.byIndex(BY_CONTROLLER, metadata?.uid ?? '').some((pod) => !isPodFinished(pod));
  }

  /** Returns false if the plan no longer fits the current state. */
  async #perform(
    key: string,
    deployment: Deployment,
    action: DeploymentAction,
    plan: DeploymentPlan,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client } = this.#options;
    const { replicaSet } = action;
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = replicaSet.metadata ?? {};
    const ref = { gvr: REPLICA_SETS, namespace, name };
    switch (action.verb) {
      case 'create':
        return this.#create(key, deployment, replicaSet, plan, signal);
      case 'update': {
        const written = await client.update<ReplicaSet>(ref, replicaSet, { signal });
        this.#expectations.wrote(key, this.#replicaSets, written);
        if (action.from !== undefined) this.#scaled(deployment, name, action.from, replicaSet.spec?.replicas ?? 0);
        return true;
      }
      case 'delete':
        try {
          const call = { signal, why: 'history' };
          const answer = await client.delete(ref, { preconditions: { uid, resourceVersion } }, call);
          const result = isWithheld(answer) ? 'withheld' : 'deleted';
          this.#deletions.inc({ controller: COMPONENT, resource: 'replicasets', reason: 'history', result });
          this.#expectations.deleted(key, this.#replicaSets, replicaSet);
        } catch (error) {
          if (!isObjectNotFound(error, name)) throw error;
        }
        return true;
    }
  }

  async #create(
    key: string,
    deployment: Deployment,
    replicaSet: ReplicaSet,
    plan: DeploymentPlan,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, clock } = this.#options;
    const { namespace = '', name = '' } = replicaSet.metadata ?? {};
    try {
      const created = await client.create<ReplicaSet>({ gvr: REPLICA_SETS, namespace }, replicaSet, { signal });
      this.#expectations.wrote(key, this.#replicaSets, created);
      const replicas = replicaSet.spec?.replicas ?? 0;
      if (replicas > 0) this.#scaled(deployment, name, 0, replicas);
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return this.#nameTaken(key, deployment, name, signal);
      if (isNamespaceTerminating(error) || signal.aborted) throw error;
      const message = `Failed to create new replica set "${name}": ${StatusError.from(error).message}`;
      this.#event(deployment, 'Warning', 'ReplicaSetCreateError', message);
      if (progressDeadline(deployment) !== undefined) {
        const condition = { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message } as const;
        const before = deployment.status?.conditions ?? [];
        const conditions = withDeploymentCondition(before, condition, clock.now());
        await this.#write(
          key,
          deployment,
          { ...plan, revision: undefined, status: { ...deployment.status, conditions } },
          signal,
        );
      }
      throw error;
    }
  }

  /**
   * A ReplicaSet of an earlier sync that the cache does not show yet; otherwise the hash collides, and the next one is tried (LIFE-305).
   */
  async #nameTaken(key: string, deployment: Deployment, name: string, signal: AbortSignal): Promise<boolean> {
    const { client, logger } = this.#options;
    const { namespace = '' } = deployment.metadata ?? {};
    const other = await client.get<ReplicaSet>({ gvr: REPLICA_SETS, namespace, name }, { signal });
    if (isControlledBy(other, deployment) && sameTemplate(other.spec?.template, deployment.spec?.template)) {
      this.#expectations.wrote(key, this.#replicaSets, other);
      return false;
    }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.#put(key, { ...deployment, status: { ...deployment.status, collisionCount } }, signal);
    logger.info('hash collision, will try another name', { key, name, collisionCount });
    return false;
  }

  /** False if another client has written the Deployment meanwhile, so that the decision may not apply. */
  async #write(
    key: string,
    deployment: Deployment,
    { revision, status }: { readonly revision: string | undefined; readonly status: DeploymentStatus },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { annotations = {} } = deployment.metadata ?? {};
    const sameRevision = revision === undefined || annotations[REVISION] === revision;
    if (sameRevision && sameStatus(deployment.status ?? {}, status)) return true;
    const metadata = sameRevision
      ? deployment.metadata
      : { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } };
    return this.#put(key, { ...deployment, ...(metadata === undefined ? {} : { metadata }), status }, signal);
  }

  async #put(key: string, deployment: Deployment, signal: AbortSignal): Promise<boolean> {
    const result = await writeOwnerStatus(this.#options.client, {
      gvr: DEPLOYMENTS,
      key,
      owner: deployment,
      cache: this.#deployments,
      expectations: this.#expectations,
      onConflict: 'decide-again',
      signal,
    });
    return result !== 'changed';
  }

  #scaled(deployment: Deployment, name: string, from: number, to: number): void {
    const message = `Scaled ${from < to ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`;
    this.#event(deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  #event(deployment: Deployment, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#events.event(eventReference(DEPLOYMENT_KIND, deployment), { type, reason, message });
  }
}
