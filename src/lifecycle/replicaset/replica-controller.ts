import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { LabelSelector } from '../../api/selectors/label-selector.ts';
import { StatusError } from '../../api/status-error.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  isTerminating,
  type OwnerKind,
} from '../ownership/controller-reference.ts';
import { Dependents } from '../ownership/dependents.ts';
import { Expectations } from '../ownership/expectations.ts';
import { selects } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { isPodActive, nextAvailability } from '../pods/pod-availability.ts';
import { PodControl, podFromTemplate } from '../pods/pod-control.ts';
import { isPodFinished, type Pod, PODS } from '../pods/pod-object.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_CONTROLLER, BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { slowStart } from '../kit/slow-start.ts';
import type { ReplicaSet } from './replica-set.ts';
import { decideReplicas, nextReplicaSetStatus } from './replicaset-reconcile.ts';

/** The differences between ReplicaSets and ReplicationControllers (LIFE-260). */
export interface ReplicaKind extends OwnerKind {
  readonly gvr: GroupVersionResource;
  /** The name of the queue in the metrics. */
  readonly queue: string;
  /** `source.component` of its events. */
  readonly component: string;
  readonly selectorOf: (owner: KubeObject) => LabelSelector | 'invalid';
  readonly countsTerminating: boolean;
}

interface ReplicaControllerOptions extends SharedContext {
  readonly replicaKind: ReplicaKind;
  /** Number of owners that are synced concurrently; 5 in kube-controller-manager. */
  readonly workers?: number;
}

interface Managed {
  /** The error that prevented the creation or deletion of pods. */
  readonly failure?: unknown;
  /** A pod to delete is gone or has changed, so the decision is repeated. */
  readonly changed?: boolean;
}

const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };
/** Delay before an owner is synced again whose caches are behind its writes; an event usually comes sooner. */
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

/** Keeps the requested number of pods (LIFE-260 to LIFE-269). It skips an owner while a cache is behind the writes for it. */
export class ReplicaController implements Service {
  readonly #options: ReplicaControllerOptions;
  readonly #owners: SharedCache<ReplicaSet>;
  readonly #pods: SharedCache<Pod>;
  readonly #expectations: Expectations;
  readonly #dependents: Dependents;
  readonly #loop: ReconcileLoop;
  readonly #events: EventRecorder;
  readonly #podControl: PodControl;

  constructor(options: ReplicaControllerOptions) {
    const { client, clock, random, logger, metrics, informers, replicaKind, workers = WORKERS } = options;
    this.#options = options;
    this.#owners = informers.of<ReplicaSet>(replicaKind.gvr);
    this.#pods = informers.of<Pod>(PODS);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: replicaKind.component });
    this.#podControl = new PodControl({
      client,
      events: this.#events,
      metrics,
      controller: replicaKind.component,
      ownerKind: replicaKind,
    });
    this.#loop = new ReconcileLoop({
      name: replicaKind.queue,
      clock,
      logger,
      metrics,
      caches: [this.#owners, this.#pods],
      workers,
      sync: (key, signal) => this.#sync(key, signal),
    });
    this.#dependents = new Dependents({
      ownerKind: replicaKind,
      owners: this.#owners,
      dependents: this.#pods,
      selects: (owner, pod) => selects(replicaKind.selectorOf(owner), pod),
      expectations: this.#expectations,
      trigger: (key) => this.#loop.trigger(key),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (owner: KubeObject): void => this.#loop.trigger(keyOf(owner));
    const stops = [
      this.#owners.addHandler({ added: look, updated: (_, owner) => look(owner), deleted: look }),
      this.#dependents.watch(),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock, logger, replicaKind } = this.#options;
    const owner = this.#owners.get(key);
    if (owner === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const selector = replicaKind.selectorOf(owner);
    if (selector === 'invalid') {
      logger.error('the selector is invalid; change it', { kind: replicaKind.kind, key });
      return SETTLED;
    }
    const candidates = this.#dependents.candidates<Pod>(owner);
    const active = await this.#claim(owner, candidates.filter(isPodActive), selector, signal);
    const terminating = candidates.filter(
      (pod) => isTerminating(pod) && !isPodFinished(pod) && isControlledBy(pod, owner) && selects(selector, pod),
    );
    const { failure, changed: podsChanged = false } = await this.#manage(key, owner, active, signal);
    const status = nextReplicaSetStatus(owner, {
      active,
      terminating: replicaKind.countsTerminating ? terminating : undefined,
      failure: failure === undefined ? undefined : StatusError.from(failure).message,
      now: clock.now(),
    });
    const written = status === undefined || (await this.#writeStatus(key, { ...owner, status }, signal));
    if (failure !== undefined) throw failure;
    if (podsChanged || !written) return { next: 'back-off' };
    const wait = nextAvailability(active, owner.spec?.minReadySeconds ?? 0, clock.now());
    return wait === undefined ? SETTLED : { next: 'later', afterMs: wait };
  }

  async #claim(owner: ReplicaSet, pods: readonly Pod[], selector: LabelSelector, signal: AbortSignal): Promise<Pod[]> {
    const { client, clock, replicaKind } = this.#options;
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind: replicaKind,
      ownerGvr: replicaKind.gvr,
      owner,
      dependentKind: 'Pod',
      dependents: PODS,
      matches: (pod) => selects(selector, pod),
      signal,
    });
    return manager.claim(pods);
  }

  /** False if the owner changes faster than its status can be written. */
  async #writeStatus(key: string, owner: ReplicaSet, signal: AbortSignal): Promise<boolean> {
    const result = await writeOwnerStatus(this.#options.client, {
      gvr: this.#options.replicaKind.gvr,
      key,
      owner,
      cache: this.#owners,
      expectations: this.#expectations,
      onConflict: 'write-on-live',
      signal,
    });
    return result !== 'changed';
  }

  /** Creates or deletes pods. */
  async #manage(key: string, owner: ReplicaSet, active: readonly Pod[], signal: AbortSignal): Promise<Managed> {
    const { clock, logger, replicaKind } = this.#options;
    const decision = decideReplicas(owner, active, { related: () => this.#related(owner), now: clock.now() });
    if (decision.verdict === 'nothing') return {};
    logger.debug('replicas', { kind: replicaKind.kind, key, verdict: decision.verdict, reason: decision.reason });
    if (decision.verdict === 'create') {
      const { failure } = await slowStart(decision.count, async () => {
        const reference = controllerReference(replicaKind, owner);
        const pod = podFromTemplate(owner.spec?.template ?? {}, owner.metadata?.name ?? '', reference);
        this.#expectations.wrote(key, this.#pods, await this.#podControl.create(owner, pod, signal));
      });
      return isNamespaceTerminating(failure) ? {} : { failure };
    }
    let changed = false;
    const outcomes = await Promise.allSettled(
      decision.pods.map(async (pod) => {
        const deleted = await this.#podControl.delete(owner, pod, 'surplus', signal);
        if (deleted) this.#expectations.deleted(key, this.#pods, pod);
        else changed = true;
      }),
    );
    return { failure: outcomes.find((outcome) => outcome.status === 'rejected')?.reason, changed };
  }

  /** Active pods of all owners with the same controller, by which pods of one Deployment are spread (LIFE-265). */
  #related(owner: ReplicaSet): Pod[] {
    const controller = controllerOf(owner);
    if (controller === undefined) return [];
    const { namespace = '' } = owner.metadata ?? {};
    const selectors = this.#owners.byIndex(BY_CONTROLLER, controller.uid).map(this.#options.replicaKind.selectorOf);
    return this.#pods
      .byIndex(BY_NAMESPACE, namespace)
      .filter((pod) => isPodActive(pod) && selectors.some((selector) => selects(selector, pod)));
  }
}
