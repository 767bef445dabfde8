import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict } from '../../api/status-error.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { itemExponentialFailureRateLimiter, type RateLimiter } from '../../workqueue/rate-limiters.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { slowStart } from '../kit/slow-start.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { Dependents } from '../ownership/dependents.ts';
import { Expectations } from '../ownership/expectations.ts';
import { ownerSelector, selects } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { nextAvailability } from '../pods/pod-availability.ts';
import { eventReference, PodControl } from '../pods/pod-control.ts';
import { type Node, NODES, type Pod, PODS } from '../pods/pod-object.ts';
import { CONTROLLER_REVISIONS, ControllerHistory } from '../revisions/controller-history.ts';
import {
  type ControllerRevision,
  decideRevision,
  REVISION_LABEL,
  surplusRevisions,
} from '../revisions/controller-revision.ts';
import { DAEMON_SET_KIND, type DaemonSet, daemonPod, type DaemonSetStatus, nodeFit } from './daemon-set.ts';
import {
  type DaemonFacts,
  type DaemonPlan,
  daemonSetStatus,
  planDaemons,
  planRollingUpdate,
} from './daemonset-reconcile.ts';

const DAEMON_SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'daemonsets' };
const COMPONENT = 'daemonset-controller';
const WORKERS = 2;
/** How long a failed pod stays: one second, doubled with each failure, at most 15 minutes. */
const FAILED_PODS = { baseMs: 1000, capMs: 15 * 60_000 };
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };
const BACK_OFF: SyncOutcome = { next: 'back-off' };

/** Runs kube-controller-manager's `daemonset-controller` (LIFE-640 to LIFE-643). Does nothing for a set while a cache is behind its own writes. */
export class DaemonSetController implements Service {
  readonly #options: SharedContext;
  readonly #sets: SharedCache<DaemonSet>;
  readonly #pods: SharedCache<Pod>;
  readonly #nodes: SharedCache<Node>;
  readonly #expectations: Expectations;
  readonly #podDependents: Dependents;
  readonly #revisionDependents: Dependents;
  readonly #history: ControllerHistory;
  readonly #events: EventRecorder;
  readonly #podControl: PodControl;
  readonly #loop: ReconcileLoop;
  /** By set and node. */
  readonly #failures: RateLimiter<string> = itemExponentialFailureRateLimiter<string>(FAILED_PODS);
  /** Monotonic ms until which a failed pod stays, by set and node. An entry is removed with the set, or when the pod is replaced. */
  readonly #backOff = new Map<string, number>();

  constructor(options: SharedContext & { readonly workers?: number }) {
    const { client, clock, random, logger, metrics, informers } = options;
    this.#options = options;
    this.#sets = informers.of<DaemonSet>(DAEMON_SETS);
    this.#pods = informers.of<Pod>(PODS);
    this.#nodes = informers.of<Node>(NODES);
    const revisions = informers.of<ControllerRevision>(CONTROLLER_REVISIONS);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: COMPONENT });
    this.#podControl = new PodControl({
      client,
      events: this.#events,
      metrics,
      controller: COMPONENT,
      ownerKind: DAEMON_SET_KIND,
    });
    this.#loop = new ReconcileLoop({
      name: 'daemonset',
      clock,
      logger,
      metrics,
      caches: [this.#sets, this.#pods, this.#nodes, revisions],
      workers: options.workers ?? WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
    const common = {
      ownerKind: DAEMON_SET_KIND,
      owners: this.#sets,
      selects: (owner: KubeObject, object: KubeObject) => selects(ownerSelector(owner), object),
      expectations: this.#expectations,
      trigger: (key: string) => this.#loop.trigger(key),
    };
    this.#podDependents = new Dependents({ ...common, dependents: this.#pods });
    this.#revisionDependents = new Dependents({ ...common, dependents: revisions });
    this.#history = new ControllerHistory({
      ...options,
      controller: COMPONENT,
      ownerKind: DAEMON_SET_KIND,
      ownerGvr: DAEMON_SETS,
      cache: revisions,
      dependents: this.#revisionDependents,
      expectations: this.#expectations,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (set: KubeObject): void => this.#loop.trigger(keyOf(set));
    const stops = [
      this.#sets.addHandler({ added: look, updated: (_, set) => look(set), deleted: look }),
      this.#podDependents.watch(),
      this.#revisionDependents.watch(),
      this.#nodes.addHandler({
        added: (node) => this.#nodeChanged(undefined, node),
        updated: (previous, node) => this.#nodeChanged(previous, node),
      }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  /** Triggers sets for which the node's fit changed. A heartbeat changes nothing. */
  #nodeChanged(previous: Node | undefined, node: Node): void {
    if (
      previous !== undefined &&
      deepEqual(previous.metadata?.labels, node.metadata?.labels) &&
      deepEqual(previous.spec, node.spec)
    ) {
      return;
    }
    for (const set of this.#sets.list()) {
      const after = nodeFit(set, node);
      const before = previous === undefined ? { run: false, stay: false } : nodeFit(set, previous);
      if (after.run !== before.run || after.stay !== before.stay) this.#loop.trigger(keyOf(set));
    }
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { logger } = this.#options;
    const set = this.#sets.get(key);
    if (set === undefined) {
      this.#expectations.forget(key);
      for (const each of this.#backOff.keys()) if (each.startsWith(`${key}/`)) this.#forgetFailures(each);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const selector = ownerSelector(set);
    if (selector === 'invalid') {
      logger.error('the selector is invalid; change it', { kind: 'DaemonSet', key });
      return SETTLED;
    }
    if (selector.empty) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#events.event(eventReference(DAEMON_SET_KIND, set), { type: 'Warning', reason: 'SelectingAll', message });
      return SETTLED;
    }
    if (isTerminating(set)) return SETTLED;
    try {
      return await this.#syncSet(key, set, signal);
    } catch (error) {
      if (isNamespaceTerminating(error)) return SETTLED;
      if (isConflict(error)) return BACK_OFF;
      throw error;
    }
  }

  async #syncSet(key: string, set: DaemonSet, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock, logger } = this.#options;
    const revisions = await this.#history.claim(set, signal);
    const { template = {} } = set.spec ?? {};
    const { collisionCount } = set.status ?? {};
    const owner = { kind: DAEMON_SET_KIND, object: set, template, collisionCount, hashLabel: REVISION_LABEL };
    const revision = await this.#history.perform(key, set, decideRevision(owner, revisions), signal);
    if (revision === 'collision') {
      await this.#writeStatus(key, set, { ...set.status, collisionCount: (collisionCount ?? 0) + 1 }, signal);
      return BACK_OFF;
    }
    const hash = revision.metadata?.labels?.[REVISION_LABEL] ?? '';
    const pods = await this.#claimPods(set, signal);
    const facts: DaemonFacts = {
      set,
      pods,
      nodes: this.#nodes.list(),
      hash,
      inBackOff: (node) => this.#isInBackOff(`${key}/${node}`),
      now: clock.now(),
    };
    let plan = planDaemons(facts);
    if (plan.create.length + plan.delete.length === 0 && set.spec?.updateStrategy?.type !== 'OnDelete') {
      plan = planRollingUpdate(facts);
    }
    logger.debug('daemon set', { key, create: plan.create.length, delete: plan.delete.length });
    const failure = await this.#perform(key, facts, plan, signal);
    const written = await this.#writeStatus(key, set, daemonSetStatus(facts), signal);
    const live = new Set([revision.metadata?.name ?? '']);
    for (const pod of pods) live.add(`${set.metadata?.name ?? ''}-${pod.metadata?.labels?.[REVISION_LABEL] ?? ''}`);
    const all = [...revisions.filter(({ metadata }) => metadata?.name !== revision.metadata?.name), revision];
    const limit = set.spec?.revisionHistoryLimit ?? 10;
    await this.#history.truncate(key, surplusRevisions(all, { live, limit }), signal);
    if (failure !== undefined) throw failure;
    if (!written) return BACK_OFF;
    return this.#next(key, facts);
  }

  async #claimPods(set: DaemonSet, signal: AbortSignal): Promise<Pod[]> {
    const { client, clock } = this.#options;
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind: DAEMON_SET_KIND,
      ownerGvr: DAEMON_SETS,
      owner: set,
      dependentKind: 'Pod',
      dependents: PODS,
      matches: (pod) => selects(ownerSelector(set), pod),
      signal,
    });
    return manager.claim(this.#podDependents.candidates<Pod>(set));
  }

  /** Deletes first, then creates. Returns the error that stopped it. */
  async #perform(key: string, { set, hash }: DaemonFacts, plan: DaemonPlan, signal: AbortSignal): Promise<unknown> {
    const deletions = await Promise.allSettled(
      plan.delete.map(async ({ pod, node, reason }) => {
        if (reason === 'failed' || reason === 'succeeded') this.#tellEnd(set, pod, { node, reason });
        if (reason === 'failed') {
          const id = `${key}/${node}`;
          this.#backOff.set(id, this.#options.clock.monotonic() + this.#failures.when(id));
        }
        if (await this.#podControl.delete(set, pod, reason, signal)) {
          this.#expectations.deleted(key, this.#pods, pod);
        }
      }),
    );
    const { failure } = await slowStart(plan.create.length, async (index) => {
      const pod = daemonPod(set, plan.create[index]!, hash);
      this.#expectations.wrote(key, this.#pods, await this.#podControl.create(set, pod, signal));
    });
    return failure ?? deletions.find((outcome) => outcome.status === 'rejected')?.reason;
  }

  #tellEnd(
    set: DaemonSet,
    { metadata }: Pod,
    { node, reason }: { node: string; reason: 'failed' | 'succeeded' },
  ): void {
    const name = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
    const event =
      reason === 'failed'
        ? {
            type: 'Warning' as const,
            reason: 'FailedDaemonPod',
            message: `Found failed daemon pod ${name} on node ${node}, will try to kill it`,
          }
        : {
            type: 'Normal' as const,
            reason: 'SucceededDaemonPod',
            message: `Found succeeded daemon pod ${name} on node ${node}, will try to delete it`,
          };
    this.#events.event(eventReference(DAEMON_SET_KIND, set), event);
  }

  #isInBackOff(id: string): boolean {
    return (this.#backOff.get(id) ?? 0) > this.#options.clock.monotonic();
  }

  #forgetFailures(id: string): void {
    this.#backOff.delete(id);
    this.#failures.forget(id);
  }

  /** The time at which a pod becomes available, or a failed one may be replaced. */
  #next(key: string, { set, pods, now }: DaemonFacts): SyncOutcome {
    const monotonic = this.#options.clock.monotonic();
    const waits = [...this.#backOff]
      .filter(([id, until]) => id.startsWith(`${key}/`) && until > monotonic)
      .map(([, until]) => until - monotonic);
    const available = nextAvailability(pods, set.spec?.minReadySeconds ?? 0, now);
    if (available !== undefined) waits.push(available);
    return waits.length === 0 ? SETTLED : { next: 'later', afterMs: Math.min(...waits) };
  }

  /** False if the set changes faster than its status can be written. */
  async #writeStatus(key: string, set: DaemonSet, status: DaemonSetStatus, signal: AbortSignal): Promise<boolean> {
    if (sameStatus(set.status ?? {}, status)) return true;
    const result = await writeOwnerStatus(this.#options.client, {
      gvr: DAEMON_SETS,
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
function sameStatus(a: DaemonSetStatus, b: DaemonSetStatus): boolean {
  const known = ({ conditions = [], ...counts }: DaemonSetStatus): object => ({
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0 && value !== undefined)),
    conditions,
  });
  return deepEqual(known(a), known(b));
}
