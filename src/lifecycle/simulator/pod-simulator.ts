import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { type Node, NODES, type Pod, PODS } from '../pods/pod-object.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NODE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { fits } from './node-fit.ts';
import { decideSimulation, type SimulationMode } from './pod-reconcile.ts';

export interface PodSimulatorOptions extends SharedContext {
  readonly mode: SimulationMode;
}

/** Number of pods that are processed concurrently. */
const WORKERS = 16;
const SETTLED: SyncOutcome = { next: 'settled' };

/** Acts as scheduler and kubelet for a pod without running anything (LIFE-531). */
export class PodSimulator implements Service {
  readonly #options: PodSimulatorOptions;
  readonly #pods: SharedCache<Pod>;
  readonly #nodes: SharedCache<Node>;
  readonly #loop: ReconcileLoop;

  constructor(options: PodSimulatorOptions) {
    const { clock, logger, metrics, informers } = options;
    this.#options = options;
    this.#pods = informers.of<Pod>(PODS);
    this.#nodes = informers.of<Node>(NODES);
    this.#loop = new ReconcileLoop({
      name: 'pod_simulator',
      clock,
      logger,
      metrics,
      caches: [this.#pods, this.#nodes],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (pod: Pod): void => this.#loop.trigger(keyOf(pod));
    this.#pods.addHandler({ added: look, updated: (_, pod) => look(pod) });
    const nodeChanged = (node: Node): void => {
      for (const pod of this.#pods.byIndex(BY_NODE, node.metadata?.name ?? '')) look(pod);
      for (const pod of this.#pods.list()) if ((pod.spec?.nodeName ?? '') === '') look(pod);
    };
    this.#nodes.addHandler({ added: nodeChanged, updated: (_, node) => nodeChanged(node) });
    await this.#loop.run(signal);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, mode } = this.#options;
    const pod = this.#pods.get(key);
    const node = this.#nodes.get(pod?.spec?.nodeName ?? '');
    const now = clock.now();
    const nodeRuns =
      node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    const decision = decideSimulation(pod, { mode, now, nodeRuns, place: () => this.#place(pod ?? {}) });
    if (decision.verdict === 'nothing') return SETTLED;
    if (decision.verdict === 'wait') return { next: 'later', afterMs: Math.max(1, decision.untilMs - now) };
    const { namespace = '', name = '', uid = '' } = pod?.metadata ?? {};
    const ref = { gvr: PODS, namespace, name };
    try {
      if (decision.verdict === 'bind') {
        const target = { apiVersion: 'v1', kind: 'Node', name: decision.node };
        const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid }, target };
        await client.create({ ...ref, subresource: 'binding' }, binding, { signal });
      } else if (decision.verdict === 'delete') {
        await client.delete(ref, { gracePeriodSeconds: 0, preconditions: { uid } }, { signal });
      } else {
        await client.update({ ...ref, subresource: 'status' }, { ...pod, status: decision.status }, { signal });
      }
      return SETTLED;
    } catch (error) {
      if (isObjectNotFound(error, name)) return SETTLED;
      if (isConflict(error)) return { next: 'back-off' };
      throw error;
    }
  }

  /** The node with the fewest pods among those that the pod fits on; of equal ones the first by name. */
  #place(pod: Pod): { readonly node: string } | { readonly unschedulable: string } {
    const nodes = this.#nodes.list();
    let best: { readonly name: string; readonly pods: number } | undefined;
    for (const node of nodes) {
      if (!fits(pod, node)) continue;
      const name = node.metadata?.name ?? '';
      const pods = this.#pods.byIndex(BY_NODE, name).length;
      if (best === undefined || pods < best.pods || (pods === best.pods && name < best.name)) best = { name, pods };
    }
    if (best !== undefined) return { node: best.name };
    return { unschedulable: `0/${nodes.length} nodes are available: no node fits the pod.` };
  }
}
