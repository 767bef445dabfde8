import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { controllerOf } from '../ownership/controller-reference.ts';
import { Expectations } from '../ownership/expectations.ts';
import { ownerSelector } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { decideBudget, type DisruptionBudget, type Scale } from './disruption-reconcile.ts';

const BUDGETS: GroupVersionResource = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
const BUDGET_KIND = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

interface Scaled extends KubeObject {
  spec?: { readonly replicas?: number };
}

/** Runs kube-controller-manager's `disruption-controller`: maintains the status of PodDisruptionBudgets, which grants evictions. */
export class DisruptionController implements Service {
  readonly #options: SharedContext;
  readonly #budgets: SharedCache<DisruptionBudget>;
  readonly #pods: SharedCache<Pod>;
  /** By the kind of a pod's controller. */
  readonly #scales: ReadonlyMap<string, SharedCache<Scaled>>;
  readonly #expectations: Expectations;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;

  constructor(options: SharedContext) {
    const { client, clock, random, logger, metrics, informers } = options;
    this.#options = options;
    this.#budgets = informers.of<DisruptionBudget>(BUDGETS);
    this.#pods = informers.of<Pod>(PODS);
    const apps = (resource: string) => informers.of<Scaled>({ group: 'apps', version: 'v1', resource });
    this.#scales = new Map([
      ['Deployment', apps('deployments')],
      ['ReplicaSet', apps('replicasets')],
      ['StatefulSet', apps('statefulsets')],
      ['ReplicationController', informers.of<Scaled>({ group: '', version: 'v1', resource: 'replicationcontrollers' })],
    ]);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'controllermanager' });
    this.#loop = new ReconcileLoop({
      name: 'disruption',
      clock,
      logger,
      metrics,
      caches: [this.#budgets, this.#pods, ...this.#scales.values()],
      workers: 1,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (budget: KubeObject): void => this.#loop.trigger(keyOf(budget));
    const podChanged = (pod: Pod): void => {
      for (const budget of this.#budgets.byIndex(BY_NAMESPACE, pod.metadata?.namespace ?? '')) {
        if (selectsPod(budget, pod)) look(budget);
      }
    };
    const scaleChanged = (before: Scaled, { metadata, spec }: Scaled): void => {
      if (before.spec?.replicas === spec?.replicas) return;
      for (const budget of this.#budgets.byIndex(BY_NAMESPACE, metadata?.namespace ?? '')) look(budget);
    };
    const stops = [
      this.#budgets.addHandler({ added: look, updated: (_, budget) => look(budget), deleted: look }),
      this.#pods.addHandler({
        added: podChanged,
        updated: (before, pod) => {
          podChanged(before);
          podChanged(pod);
        },
        deleted: podChanged,
      }),
      ...[...this.#scales.values()].map((cache) => cache.addHandler({ updated: scaleChanged })),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock } = this.#options;
    const budget = this.#budgets.get(key);
    if (budget === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const namespace = budget.metadata?.namespace ?? '';
    const pods = this.#pods.byIndex(BY_NAMESPACE, namespace).filter((pod) => selectsPod(budget, pod));
    if (pods.length === 0) this.#event(BUDGET_KIND, budget, 'Normal', 'NoPods', 'No matching pods found');
    const { status, notDeleted, failure, recheckMs } = decideBudget({
      budget,
      pods,
      scale: () => this.#scale(pods),
      now: clock.now(),
    });
    for (const pod of notDeleted) {
      const message = `Pod was expected by PDB ${namespace}/${budget.metadata?.name ?? ''} to be deleted but it wasn't`;
      this.#event({ apiVersion: 'v1', kind: 'Pod' }, pod, 'Warning', 'NotDeleted', message);
    }
    if (status !== undefined) {
      const result = await writeOwnerStatus<DisruptionBudget>(client, {
        gvr: BUDGETS,
        key,
        owner: { ...budget, status },
        cache: this.#budgets,
        expectations: this.#expectations,
        onConflict: 'decide-again',
        signal,
      });
      // An eviction has used the budget meanwhile, so the decision is repeated.
      if (result === 'changed') return { next: 'back-off' };
    }
    if (failure !== undefined) {
      const message = `Failed to calculate the number of expected pods: ${failure}`;
      this.#event(BUDGET_KIND, budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      throw new Error(failure);
    }
    return recheckMs === undefined ? SETTLED : { next: 'later', afterMs: recheckMs };
  }

  /** The sizes of all controllers of the pods, each counted once. A ReplicaSet of a Deployment counts as the Deployment. */
  #scale(pods: readonly Pod[]): Scale {
    const sizes = new Map<string, number>();
    for (const pod of pods) {
      const owner = this.#owner(pod);
      if (owner === 'none') continue;
      if (owner === undefined) return { failure: `found no controllers for pod "${pod.metadata?.name ?? ''}"` };
      sizes.set(owner.metadata?.uid ?? '', owner.spec?.replicas ?? 1);
    }
    return { expected: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
  }

  /** `none` for a pod without a controller; undefined if its controller has no known size. */
  #owner(object: KubeObject): Scaled | 'none' | undefined {
    const reference = controllerOf(object);
    if (reference === undefined) return 'none';
    const owner = this.#scales.get(reference.kind)?.get(`${object.metadata?.namespace ?? ''}/${reference.name}`);
    if (owner?.metadata?.uid !== reference.uid) return undefined;
    const above = this.#owner(owner);
    return above === 'none' || above === undefined ? owner : above;
  }

  #event(
    kind: { apiVersion: string; kind: string },
    object: KubeObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
  ): void {
    this.#events.event(eventReference(kind, object), { type, reason, message });
  }
}

/** An empty selector matches every pod of the namespace, an absent one none. */
function selectsPod(budget: DisruptionBudget, { metadata }: Pod): boolean {
  const selector = ownerSelector(budget);
  return selector !== 'invalid' && selector.matches(metadata?.labels);
}
