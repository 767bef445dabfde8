import { SIMULATED } from '../../api/meta/annotations.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import { sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Gauge } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import type { Lease } from '../node-lease/node-lease-reconcile.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Node, NODES, readyConditionOf } from '../pods/pod-object.ts';
import {
  decideTaints,
  type Heartbeat,
  type HealthTimes,
  nextHeartbeat,
  silentConditions,
  type TaintDecision,
  zoneOf,
  zoneRate,
} from './node-health.ts';

export interface NodeHealthSettings {
  /**
   * `auto` (default) covers only nodes whose kubelet has reported since the controller started; `on` covers all; `off` does not run the
   * controller.
   */
  readonly mode?: 'auto' | 'on' | 'off';
  /** Interval between two passes; 5 s. */
  readonly monitorPeriodMs?: number;
  /** Silence after which a node becomes Unknown; 50 s. */
  readonly gracePeriodMs?: number;
  /** Silence after which a node that never reported becomes Unknown; 60 s. */
  readonly startupGracePeriodMs?: number;
}

export interface NodeLifecycleOptions extends SharedContext, NodeHealthSettings {}

interface KnownNode {
  readonly uid: string;
  readonly name: string;
  readonly heartbeat: Heartbeat;
  /** True if a heartbeat changed since this controller started, which proves that a kubelet sends them. */
  readonly wasHeard: boolean;
}

interface Zone {
  nodes: number;
  notReady: number;
  /** The earliest time at which another node of the zone may be tainted. */
  nextTaintMs: number;
}

const NODE_KIND = { apiVersion: 'v1', kind: 'Node' };
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const MONITOR_PERIOD_MS = 5000;
const GRACE_PERIOD_MS = 50_000;
const STARTUP_GRACE_PERIOD_MS = 60_000;

/** Marks nodes whose kubelet is silent, and taints nodes that are not ready (`node-lifecycle-controller`). */
export class NodeLifecycleController implements Service {
  readonly #options: NodeLifecycleOptions;
  readonly #nodes: SharedCache<Node>;
  readonly #leases: SharedCache<Lease>;
  readonly #events: EventRecorder;
  readonly #times: HealthTimes;
  /** The known nodes by name. A node that is gone is removed in the next pass. */
  readonly #known = new Map<string, KnownNode>();
  readonly #zones = new Map<string, Zone>();
  readonly #zoneSize: Gauge;
  readonly #zoneHealth: Gauge;
  readonly #unhealthy: Gauge;

  constructor(options: NodeLifecycleOptions) {
    const { client, clock, random, logger, metrics, informers } = options;
    const { gracePeriodMs = GRACE_PERIOD_MS, startupGracePeriodMs = STARTUP_GRACE_PERIOD_MS } = options;
    this.#options = options;
    this.#nodes = informers.of<Node>(NODES);
    this.#leases = informers.of<Lease>(LEASES, 'kube-node-lease');
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'node-controller' });
    this.#times = { gracePeriodMs, startupGracePeriodMs };
    this.#zoneSize = metrics.gauge({
      name: 'node_collector_zone_size',
      help: 'Gauge measuring number of registered Nodes per zones.',
    });
    this.#zoneHealth = metrics.gauge({
      name: 'node_collector_zone_health',
      help: 'Gauge measuring percentage of healthy nodes per zone.',
    });
    this.#unhealthy = metrics.gauge({
      name: 'node_collector_unhealthy_nodes_in_zone',
      help: 'Gauge measuring number of not Ready Nodes per zones.',
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, monitorPeriodMs = MONITOR_PERIOD_MS } = this.#options;
    const events = this.#events.run(signal);
    await Promise.all([this.#nodes.waitForSync(signal), this.#leases.waitForSync(signal)]);
    while (!signal.aborted) {
      await this.#pass(signal);
      await sleepUnlessAborted(clock, monitorPeriodMs, signal);
    }
    await events;
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const nodes = this.#nodes.list();
    const watched = nodes.filter((node) => this.#observe(node));
    this.#forgetGone(new Set(nodes.map(({ metadata }) => metadata?.name ?? '')));
    this.#countZones(nodes);
    for (const node of watched) {
      if (signal.aborted) return;
      try {
        await this.#syncNode(node, nodes.length, signal);
      } catch (thrown) {
        const { name = '' } = node.metadata ?? {};
        // Another client was faster, or the node is gone; the next pass decides again.
        if (signal.aborted || isConflict(thrown) || isObjectNotFound(thrown, name)) continue;
        this.#options.logger.warn('failed to write the health of a node, will retry', {
          name,
          error: asError(thrown).message,
        });
      }
    }
  }

  /** Records the node's heartbeat. Returns whether this controller judges its health. */
  #observe(node: Node): boolean {
    const { clock, mode = 'auto' } = this.#options;
    const { name = '', uid = '', annotations, creationTimestamp } = node.metadata ?? {};
    if (annotations?.[SIMULATED] === 'true') return false;
    const lease = this.#leases.get(`kube-node-lease/${name}`);
    const ready = readyConditionOf(node) as { readonly lastHeartbeatTime?: string } | undefined;
    const seen = `${lease?.spec?.renewTime ?? ''} ${ready?.lastHeartbeatTime ?? ''}`;
    const before = this.#known.get(name);
    const known = before?.uid === uid ? before : undefined;
    if (known === undefined) {
      const message = `Registered Node ${name} in Controller`;
      this.#events.event(eventReference(NODE_KIND, node), {
        type: 'Normal',
        reason: 'RegisteredNode',
        message: `Node ${name} event: ${message}`,
      });
    }
    const created = parseTime(creationTimestamp ?? '') ?? clock.now();
    // A node that never reported counts as silent since its creation.
    const first = ready === undefined && lease === undefined ? created : clock.now();
    const heartbeat = known === undefined ? { seen, atMs: first } : nextHeartbeat(known.heartbeat, seen, clock.now());
    const wasHeard = known !== undefined && (known.wasHeard || heartbeat !== known.heartbeat);
    this.#known.set(name, { uid, name, heartbeat, wasHeard });
    return mode === 'on' || wasHeard;
  }

  #forgetGone(names: ReadonlySet<string>): void {
    for (const [name, { uid }] of this.#known) {
      if (names.has(name)) continue;
      this.#known.delete(name);
      const involved = { ...NODE_KIND, namespace: '', name, uid, resourceVersion: '' };
      const message = `Node ${name} event: Removing Node ${name} from Controller`;
      this.#events.event(involved, { type: 'Normal', reason: 'RemovingNode', message });
    }
  }

  #countZones(nodes: readonly Node[]): void {
    for (const zone of this.#zones.values()) {
      zone.nodes = 0;
      zone.notReady = 0;
    }
    for (const node of nodes) {
      const name = zoneOf(node);
      const zone = this.#zones.get(name) ?? { nodes: 0, notReady: 0, nextTaintMs: 0 };
      this.#zones.set(name, zone);
      zone.nodes++;
      if (readyConditionOf(node)?.status !== 'True') zone.notReady++;
    }
    for (const [name, { nodes: size, notReady }] of this.#zones) {
      this.#zoneSize.set(size, { zone: name });
      this.#zoneHealth.set(size === 0 ? 100 : (100 * (size - notReady)) / size, { zone: name });
      this.#unhealthy.set(notReady, { zone: name });
      if (size === 0) this.#zones.delete(name);
    }
  }

  async #syncNode(seen: Node, clusterNodes: number, signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { name = '' } = seen.metadata ?? {};
    const heartbeat = this.#known.get(name)?.heartbeat;
    if (heartbeat === undefined) return;
    const now = clock.now();
    const at = formatTime(now);
    let node = seen;
    const conditions = silentConditions(node, { heartbeat, now, at, times: this.#times });
    if (conditions !== undefined) {
      const status = { ...node.status, conditions };
      const wasReady = readyConditionOf(node)?.status === 'True';
      node = await client.update<Node>({ gvr: NODES, name, subresource: 'status' }, { ...node, status }, { signal });
      logger.info('marked a node whose kubelet is silent', { name, silentMs: now - heartbeat.atMs });
      if (wasReady) {
        const message = `Node ${name} status is now: NodeNotReady`;
        this.#events.event(eventReference(NODE_KIND, node), { type: 'Normal', reason: 'NodeNotReady', message });
      }
    }
    const decision = decideTaints(node, at);
    if (decision.verdict === 'nothing' || !this.#mayTaint(node, decision, clusterNodes, now)) return;
    await client.update<Node>(
      { gvr: NODES, name },
      { ...node, spec: { ...node.spec, taints: decision.taints } },
      { signal },
    );
    logger.info('changed the taint of a node', { name, reason: decision.reason });
  }

  /** Uses the zone's next allowed taint if there is one. */
  #mayTaint(node: Node, decision: TaintDecision, clusterNodes: number, now: number): boolean {
    if (decision.verdict !== 'queue') return true;
    const zone = this.#zones.get(zoneOf(node));
    if (zone === undefined || now < zone.nextTaintMs) return false;
    const rate = zoneRate({ notReady: zone.notReady, nodes: zone.nodes, clusterNodes });
    if (rate === 0) return false;
    zone.nextTaintMs = now + 1000 / rate;
    return true;
  }
}
