import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict } from '../../api/status-error.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { Dependents } from '../ownership/dependents.ts';
import { Expectations } from '../ownership/expectations.ts';
import { ownerSelector, selects } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { nextAvailability } from '../pods/pod-availability.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { CONTROLLER_REVISIONS, ControllerHistory } from '../revisions/controller-history.ts';
import {
  type ControllerRevision,
  decideRevision,
  REVISION_LABEL,
  surplusRevisions,
} from '../revisions/controller-revision.ts';
import { type Claim, ordinalOf, STATEFUL_SET_KIND, type StatefulSet, type StatefulSetStatus } from './stateful-set.ts';
import { CLAIMS, StatefulPodControl } from './stateful-pod-control.ts';
import { planStatefulSet, type StatefulAction } from './statefulset-reconcile.ts';

const STATEFUL_SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'statefulsets' };
const COMPONENT = 'statefulset-controller';
const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };
const BACK_OFF: SyncOutcome = { next: 'back-off' };

/** The revisions of a set in one sync. */
interface Revisions {
  readonly all: readonly ControllerRevision[];
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

/** Runs kube-controller-manager's `statefulset-controller` (LIFE-610 to LIFE-615). Does nothing for a set while a cache is behind its own writes. */
export class StatefulSetController implements Service {
  readonly #options: SharedContext;
  readonly #sets: SharedCache<StatefulSet>;
  readonly #pods: SharedCache<Pod>;
  readonly #claims: SharedCache<Claim>;
  readonly #revisions: SharedCache<ControllerRevision>;
  readonly #expectations: Expectations;
  readonly #podDependents: Dependents;
  readonly #revisionDependents: Dependents;
  readonly #history: ControllerHistory;
  readonly #events: EventRecorder;
  readonly #control: StatefulPodControl;
  readonly #loop: ReconcileLoop;

  constructor(options: SharedContext & { readonly workers?: number }) {
    const { client, clock, random, logger, metrics, informers } = options;
    this.#options = options;
    this.#sets = informers.of<StatefulSet>(STATEFUL_SETS);
    this.#pods = informers.of<Pod>(PODS);
    this.#claims = informers.of<Claim>(CLAIMS);
    this.#revisions = informers.of<ControllerRevision>(CONTROLLER_REVISIONS);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
    this.#loop = new ReconcileLoop({
      name: 'statefulset',
      clock,
      logger,
      metrics,
      caches: [this.#sets, this.#pods, this.#claims, this.#revisions],
      workers: options.workers ?? WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
    const common = {
      ownerKind: STATEFUL_SET_KIND,
      owners: this.#sets,
      selects: (owner: KubeObject, object: KubeObject) => selects(ownerSelector(owner), object),
      expectations: this.#expectations,
      trigger: (key: string) => this.#loop.trigger(key),
    };
    this.#podDependents = new Dependents({ ...common, dependents: this.#pods });
    this.#revisionDependents = new Dependents({ ...common, dependents: this.#revisions });
    this.#history = new ControllerHistory({
      ...options,
      controller: COMPONENT,
      ownerKind: STATEFUL_SET_KIND,
      ownerGvr: STATEFUL_SETS,
      cache: this.#revisions,
      dependents: this.#revisionDependents,
      expectations: this.#expectations,
    });
    this.#control = new StatefulPodControl({
      ...options,
      events: this.#events,
      expectations: this.#expectations,
      pods: this.#pods,
      claims: this.#claims,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (set: KubeObject): void => this.#loop.trigger(keyOf(set));
    const stops = [
      this.#sets.addHandler({ added: look, updated: (_, set) => look(set), deleted: look }),
      this.#podDependents.watch(),
      this.#revisionDependents.watch(),
      this.#claims.addHandler({ deleted: (claim) => this.#claimDeleted(claim) }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  /** A pod may wait for the deletion of an earlier pod's claim. */
  #claimDeleted({ metadata }: Claim): void {
    const { namespace = '', name = '' } = metadata ?? {};
    for (const set of this.#sets.byIndex(BY_NAMESPACE, namespace)) {
      const templates = set.spec?.volumeClaimTemplates ?? [];
      const isOf = (template: Claim): boolean =>
        name.startsWith(`${template.metadata?.name ?? ''}-${set.metadata?.name ?? ''}-`);
      if (templates.some(isOf)) this.#loop.trigger(keyOf(set));
    }
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { logger } = this.#options;
    const set = this.#sets.get(key);
    if (set === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    if (ownerSelector(set) === 'invalid') {
      logger.error('the selector is invalid; change it', { kind: 'StatefulSet', key });
      return SETTLED;
    }
    try {
      return await this.#syncSet(key, set, signal);
    } catch (error) {
      if (isNamespaceTerminating(error)) return SETTLED;
      if (isConflict(error)) return BACK_OFF;
      throw error;
    }
  }

  async #syncSet(key: string, set: StatefulSet, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock, logger } = this.#options;
    const pods = await this.#claimPods(set, signal);
    const revisions = await this.#decideRevisions(key, set, signal);
    if (revisions === 'again') return BACK_OFF;
    if (revisions === undefined) return SETTLED;
    const { all, current, update } = revisions;
    const plan = planStatefulSet({
      set,
      pods,
      current,
      update,
      collisionCount: set.status?.collisionCount,
      claimIsStale: (pod) => this.#control.hasStaleClaim(set, pod),
      now: clock.now(),
    });
    logger.debug('stateful set', { key, reason: plan.reason, actions: plan.actions.length });
    // Even after a failure the history is truncated and the status is written; then the sync fails.
    const failures: unknown[] = [];
    let changed = false;
    try {
      if (!isTerminating(set)) await this.#retainClaims(key, set, { pods, condemned: plan.condemned }, signal);
      const outcomes = await Promise.allSettled(plan.actions.map((action) => this.#perform(key, set, action, signal)));
      changed = outcomes.some((outcome) => outcome.status === 'fulfilled' && !outcome.value);
      for (const outcome of outcomes) if (outcome.status === 'rejected') failures.push(outcome.reason);
    } catch (error) {
      failures.push(error);
    }
    const written = await this.#writeStatus(key, set, plan.status, signal);
    if (!isTerminating(set)) {
      const live = new Set([current, update].map(({ metadata }) => metadata?.name ?? ''));
      for (const pod of pods) live.add(pod.metadata?.labels?.[REVISION_LABEL] ?? '');
      const limit = set.spec?.revisionHistoryLimit ?? 10;
      await this.#history.truncate(key, surplusRevisions(all, { live, limit }), signal);
    }
    if (failures.length > 0) throw failures[0];
    if (changed || !written) return BACK_OFF;
    const wait = nextAvailability(pods, set.spec?.minReadySeconds ?? 0, clock.now());
    return wait === undefined ? SETTLED : { next: 'later', afterMs: wait };
  }

  /** The set's pods: those that it selects and that are named after it (LIFE-610). */
  async #claimPods(set: StatefulSet, signal: AbortSignal): Promise<Pod[]> {
    const { client, clock } = this.#options;
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind: STATEFUL_SET_KIND,
      ownerGvr: STATEFUL_SETS,
      owner: set,
      dependentKind: 'Pod',
      dependents: PODS,
      matches: (pod) => selects(ownerSelector(set), pod) && ordinalOf(set, pod) !== undefined,
      signal,
    });
    return manager.claim(this.#podDependents.candidates<Pod>(set));
  }

  /** `again` after a collision. Undefined for a terminating set without revisions, because none is created for it (LIFE-611). */
  async #decideRevisions(key: string, set: StatefulSet, signal: AbortSignal): Promise<Revisions | 'again' | undefined> {
    const all = await this.#history.claim(set, signal);
    const { template = {} } = set.spec ?? {};
    const { collisionCount, currentRevision } = set.status ?? {};
    const decision = decideRevision({ kind: STATEFUL_SET_KIND, object: set, template, collisionCount }, all);
    if (isTerminating(set)) {
      const update = decision.verdict === 'create' ? all.at(-1) : decision.revision;
      const current = all.find(({ metadata }) => metadata?.name === currentRevision) ?? update;
      return update === undefined || current === undefined ? undefined : { all, current, update };
    }
    const update = await this.#history.perform(key, set, decision, signal);
    if (update === 'collision') {
      await this.#writeStatus(key, set, { ...set.status, collisionCount: (collisionCount ?? 0) + 1 }, signal);
      return 'again';
    }
    const known = all.filter(({ metadata }) => metadata?.name !== update.metadata?.name);
    const current = known.find(({ metadata }) => metadata?.name === currentRevision) ?? update;
    return { all: [...known, update], current, update };
  }

  async #retainClaims(
    key: string,
    set: StatefulSet,
    { pods, condemned }: { readonly pods: readonly Pod[]; readonly condemned: readonly Pod[] },
    signal: AbortSignal,
  ): Promise<void> {
    if ((set.spec?.volumeClaimTemplates ?? []).length === 0) return;
    for (const pod of pods) await this.#control.retain(key, set, pod, condemned.includes(pod), signal);
  }

  /** False if a pod to delete is gone or has changed. */
  async #perform(key: string, set: StatefulSet, action: StatefulAction, signal: AbortSignal): Promise<boolean> {
    const { pod } = action;
    switch (action.verb) {
      case 'create':
        await this.#control.create(key, set, pod, signal);
        return true;
      case 'relabel':
        await this.#control.relabel(key, set, pod, signal);
        return true;
      case 'delete':
        this.#tellRecreation(set, pod, action.reason);
        return this.#control.delete(key, set, pod, action.reason, signal);
    }
  }

  #tellRecreation(set: StatefulSet, { metadata }: Pod, reason: string): void {
    if (reason !== 'RecreatingFailedPod' && reason !== 'RecreatingTerminatedPod') return;
    const { namespace = '', name = '' } = set.metadata ?? {};
    const state = reason === 'RecreatingFailedPod' ? 'failed' : 'terminated';
    const message = `StatefulSet ${namespace}/${name} is recreating ${state} Pod ${metadata?.name ?? ''}`;
    this.#events.event(eventReference(STATEFUL_SET_KIND, set), { type: 'Warning', reason, message });
  }

  /** False if the set changes faster than its status can be written. */
  async #writeStatus(key: string, set: StatefulSet, status: StatefulSetStatus, signal: AbortSignal): Promise<boolean> {
    if (sameStatus(set.status ?? {}, status)) return true;
    const result = await writeOwnerStatus(this.#options.client, {
      gvr: STATEFUL_SETS,
      key,
      owner: { ...set, status },
      cache: this.#sets,
      expectations: this.#expectations,
      onConflict: 'write-on-live',
      signal,
    });
    return result !== 'changed';
  }
}

/** True if the server would store nothing new; an absent count equals 0. */
function sameStatus(a: StatefulSetStatus, b: StatefulSetStatus): boolean {
  const known = ({ conditions = [], ...counts }: StatefulSetStatus): object => ({
    ...Object.fromEntries(
      Object.entries(counts).filter(([, value]) => value !== 0 && value !== undefined && value !== ''),
    ),
    conditions,
  });
  return deepEqual(known(a), known(b));
}
