import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import { sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Counter, Gauge } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Node, NODES } from '../pods/pod-object.ts';
import type { InstanceSource } from './instance-source.ts';
import { decideNode, isAskedAbout, mayDelete, type NodeDecision } from './node-existence-reconcile.ts';
import { openSource } from './open-source.ts';
import type { SourceSpec } from './source-spec.ts';

export interface NodeExistenceSettings {
  readonly source: SourceSpec;
  /** Interval between two passes; 5 s. */
  readonly periodMs?: number;
  /** Maximum share of all nodes that one pass may delete, 0 to 1; 0.1. One node may always be deleted. */
  readonly maxDeleteFraction?: number;
}

export interface NodeExistenceOptions extends SharedContext, NodeExistenceSettings {}

const NODE_KIND = { apiVersion: 'v1', kind: 'Node' };
const CONTROLLER = 'cloud-node-lifecycle-controller';
const PERIOD_MS = 5000;
const MAX_DELETE_FRACTION = 0.1;
/** Interval between two Events about too many missing nodes. */
const BLOCKED_EVENT_MS = 300_000;

/** Deletes nodes whose machine is gone, and taints those whose machine is shut down (`cloud-node-lifecycle`). */
export class NodeExistenceController implements Service {
  readonly #options: NodeExistenceOptions;
  readonly #nodes: SharedCache<Node>;
  readonly #source: InstanceSource;
  readonly #events: EventRecorder;
  readonly #deletions: Counter;
  readonly #blocked: Gauge;
  #blockedEventAt = -Infinity;

  constructor(options: NodeExistenceOptions) {
    const { client, clock, random, logger, metrics, informers, source } = options;
    this.#options = options;
    this.#nodes = informers.of<Node>(NODES);
    this.#source = openSource(source, { client, clock });
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'cloud-node-lifecycle-controller' });
    this.#deletions = deletionCounter(metrics);
    this.#blocked = metrics.gauge({
      name: 'kubegc_node_existence_blocked',
      help: '1 while more nodes are missing than one pass may delete, so that none is deleted.',
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, periodMs = PERIOD_MS } = this.#options;
    const events = this.#events.run(signal);
    await this.#nodes.waitForSync(signal);
    while (!signal.aborted) {
      await this.#pass(signal);
      await sleepUnlessAborted(clock, periodMs, signal);
    }
    await events;
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { logger, maxDeleteFraction = MAX_DELETE_FRACTION } = this.#options;
    const nodes = this.#nodes.list();
    const decisions: { readonly node: Node; readonly decision: NodeDecision }[] = [];
    try {
      const asked = nodes.filter(isAskedAbout);
      const states = asked.length === 0 ? new Map<string, never>() : await this.#source.states(asked, signal);
      for (const node of nodes) {
        const decision = decideNode(node, states.get(node.metadata?.name ?? '') ?? 'unknown');
        if (decision.verdict !== 'nothing') decisions.push({ node, decision });
      }
    } catch (thrown) {
      if (signal.aborted) return;
      logger.warn('left all nodes alone, because the source of instances gives no answer', {
        source: this.#source.name,
        error: asError(thrown).message,
      });
      return;
    }
    const missing = decisions.filter(({ decision }) => decision.verdict === 'delete').length;
    const isBlocked = !mayDelete(missing, nodes.length, maxDeleteFraction);
    this.#blocked.set(isBlocked ? 1 : 0);
    if (isBlocked) this.#reportBlocked(missing, nodes.length);
    for (const { node, decision } of decisions) {
      if (signal.aborted) return;
      if (decision.verdict === 'setTaints') await this.#setTaints(node, decision, signal);
      else if (!isBlocked) await this.#delete(node, signal);
    }
  }

  #reportBlocked(missing: number, nodes: number): void {
    const { clock, logger } = this.#options;
    if (clock.now() - this.#blockedEventAt < BLOCKED_EVENT_MS) return;
    this.#blockedEventAt = clock.now();
    const message = `${missing} of ${nodes} nodes are missing in ${this.#source.name}, more than one pass may delete; deleted none`;
    logger.warn('deleted no node, because too many are missing', { missing, nodes, source: this.#source.name });
    const involved = {
      apiVersion: 'v1',
      kind: 'Namespace',
      namespace: '',
      name: 'kube-system',
      uid: '',
      resourceVersion: '',
    };
    this.#events.event(involved, { type: 'Warning', reason: 'TooManyNodesMissing', message });
  }

  async #delete(node: Node, signal: AbortSignal): Promise<void> {
    const { client, logger } = this.#options;
    const { name = '' } = node.metadata ?? {};
    const reference = eventReference(NODE_KIND, node);
    this.#events.event(reference, {
      type: 'Normal',
      reason: 'DeletingNode',
      message: `Deleting node ${name} because it does not exist in the cloud provider`,
    });
    try {
      // The version is a precondition too, because the node may have become Ready since.
      const result = await deleteExactly(client, { gvr: NODES, object: node, reason: 'instanceGone', signal });
      this.#deletions.inc({ controller: CONTROLLER, resource: 'nodes', reason: 'instanceGone', result });
      logger.info('deleted a node whose instance is gone', { name, source: this.#source.name, result });
    } catch (thrown) {
      if (signal.aborted) return;
      const { message } = asError(thrown);
      logger.warn('failed to delete a node whose instance is gone, will retry', { name, error: message });
      const text = `Failed deleting node ${name}: ${message}`;
      this.#events.event(reference, { type: 'Warning', reason: 'DeletingNodeFailed', message: text });
    }
  }

  async #setTaints(node: Node, decision: NodeDecision & { verdict: 'setTaints' }, signal: AbortSignal): Promise<void> {
    const { client, logger } = this.#options;
    const { name = '' } = node.metadata ?? {};
    try {
      await client.update<Node>(
        { gvr: NODES, name },
        { ...node, spec: { ...node.spec, taints: decision.taints } },
        { signal },
      );
      logger.info('changed the shutdown taint of a node', { name, reason: decision.reason });
    } catch (thrown) {
      // Another client was faster, or the node is gone; the next pass decides again.
      if (signal.aborted || isConflict(thrown) || isObjectNotFound(thrown, name)) return;
      logger.warn('failed to write the taints of a node, will retry', { name, error: asError(thrown).message });
    }
  }
}
