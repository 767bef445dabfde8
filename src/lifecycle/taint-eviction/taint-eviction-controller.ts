import { formatTime } from '../../api/meta/time.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NODE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Node, NODES, type Pod, PODS, type Taint } from '../pods/pod-object.ts';
import { decideEviction, evictionPatch } from './eviction-reconcile.ts';

const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };
const WORKERS = 8;
const SETTLED: SyncOutcome = { next: 'settled' };

interface Waiting {
  /** The pod and the taints of this time. */
  readonly uid: string;
  readonly taints: string;
  readonly since: number;
}

/** Deletes pods that do not, or no longer, tolerate a `NoExecute` taint of their node (`taint-eviction-controller`). */
export class TaintEvictionController implements Service {
  readonly #context: SharedContext;
  readonly #pods: SharedCache<Pod>;
  readonly #nodes: SharedCache<Node>;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;
  /** Pods on tainted nodes. A pod is removed when it leaves, or when its node loses its taints. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #evictions: Counter;
  readonly #deletions: Counter;

  constructor(context: SharedContext) {
    const { client, clock, random, logger, metrics, informers } = context;
    this.#context = context;
    this.#pods = informers.of<Pod>(PODS);
    this.#nodes = informers.of<Node>(NODES);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'taint-eviction-controller' });
    this.#evictions = metrics.counter({
      name: 'taint_eviction_controller_pod_deletions_total',
      help: 'Total number of Pods deleted by TaintEvictionController since its start.',
    });
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'taint_eviction',
      clock,
      logger,
      metrics,
      caches: [this.#pods, this.#nodes],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (pod: Pod): void => {
      if (this.#taintsOf(pod).length > 0 || this.#waiting.has(keyOf(pod))) this.#loop.trigger(keyOf(pod));
    };
    const nodeSeen = (node: Node): void => this.#pods.byIndex(BY_NODE, node.metadata?.name ?? '').forEach(look);
    const stops = [
      this.#pods.addHandler({
        added: look,
        updated: (_, pod) => look(pod),
        deleted: (pod) => void this.#waiting.delete(keyOf(pod)),
      }),
      this.#nodes.addHandler({ added: nodeSeen, updated: (_, node) => nodeSeen(node) }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  #taintsOf(pod: Pod | undefined): readonly Taint[] {
    const taints = this.#nodes.get(pod?.spec?.nodeName ?? '')?.spec?.taints ?? [];
    return taints.filter(({ effect }) => effect === 'NoExecute');
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const pod = this.#pods.get(key);
    const taints = this.#taintsOf(pod);
    const now = clock.now();
    const { namespace = '', name = '', uid = '' } = pod?.metadata ?? {};
    const known = this.#waiting.get(key);
    const told = taints.map(({ key: taint, value = '' }) => `${taint}=${value}`).join(',');
    const since = known?.uid === uid && known.taints === told ? known.since : now;
    const decision = decideEviction(pod, { taints, since, now });
    if (pod === undefined || decision.verdict === 'stay') {
      if (this.#waiting.delete(key) && pod !== undefined && decision.reason !== 'terminating') {
        const message = `Cancelling deletion of Pod ${namespace}/${name}`;
        this.#events.event(eventReference(POD_KIND, pod), { type: 'Normal', reason: 'TaintManagerEviction', message });
      }
      return SETTLED;
    }
    if (decision.verdict === 'wait') {
      this.#waiting.set(key, { uid, taints: told, since });
      return { next: 'later', afterMs: decision.untilMs - now };
    }
    const message = `Marking for deletion Pod ${namespace}/${name}`;
    this.#events.event(eventReference(POD_KIND, pod), { type: 'Normal', reason: 'TaintManagerEviction', message });
    const ref = { gvr: PODS, namespace, name };
    try {
      const body = evictionPatch(pod, formatTime(now));
      await client.patch(
        { ...ref, subresource: 'status' },
        { type: 'application/strategic-merge-patch+json', body },
        { signal },
      );
    } catch (error) {
      if (isObjectNotFound(error, name)) return SETTLED;
      throw error;
    }
    const result = await deleteExactly(client, {
      gvr: PODS,
      object: pod,
      content: 'irrelevant',
      reason: decision.reason,
      signal,
    });
    this.#waiting.delete(key);
    this.#evictions.inc();
    this.#deletions.inc({ controller: 'taint-eviction-controller', resource: 'pods', reason: decision.reason, result });
    logger.debug('evicted a pod', { namespace, name, reason: decision.reason, result });
    return SETTLED;
  }
}
