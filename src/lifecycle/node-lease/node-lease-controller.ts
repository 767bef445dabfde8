import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { NODES } from '../pods/pod-object.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { decideLease, type Lease } from './node-lease-reconcile.ts';

export const LEASES: GroupVersionResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
export const NODE_LEASES = 'kube-node-lease';
/** Delay before a lease is checked again if its node exists but its kubelet does not renew it. */
const NODE_EXISTS_MS = 3_600_000;

interface NodeLeaseOptions extends SharedContext {
  /** Age below which no lease is deleted; 1 h. */
  readonly minAgeMs?: number;
}

/** Deletes Leases without an owner whose node is gone (LIFE-202). It reads no other namespace (LIFE-203). */
export class NodeLeaseController implements Service {
  readonly #context: NodeLeaseOptions;
  readonly #leases: SharedCache<Lease>;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: NodeLeaseOptions) {
    const { clock, logger, metrics, informers } = context;
    this.#context = context;
    this.#leases = informers.of<Lease>(LEASES, NODE_LEASES);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'node_lease_cleaner',
      clock,
      logger,
      metrics,
      caches: [this.#leases],
      workers: 1,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (lease: Lease): void => {
      if ((lease.metadata?.ownerReferences ?? []).length === 0) this.#loop.trigger(keyOf(lease));
    };
    // A renewal only delays the time at which the lease is checked again.
    this.#leases.addHandler({ added: look });
    await this.#loop.run(signal);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger, minAgeMs } = this.#context;
    const lease = this.#leases.get(key);
    let decision = decideLease(lease, clock.now(), 'unknown', minAgeMs);
    if (decision.verdict === 'askNode') {
      decision = decideLease(lease, clock.now(), await this.#node(lease?.metadata?.name ?? '', signal), minAgeMs);
    }
    if (decision.verdict === 'wait') return { next: 'later', afterMs: decision.untilMs - clock.now() };
    if (decision.reason === 'nodeExists') return { next: 'later', afterMs: NODE_EXISTS_MS };
    if (decision.verdict !== 'delete' || lease === undefined) return { next: 'settled' };
    const { reason } = decision;
    const result = await deleteExactly(client, { gvr: LEASES, object: lease, reason, signal });
    this.#deletions.inc({ controller: 'node-lease-cleaner-controller', resource: LEASES.resource, reason, result });
    logger.debug('deleted a lease', { name: key, reason, result });
    return { next: result === 'changed' ? 'back-off' : 'settled' };
  }

  async #node(name: string, signal: AbortSignal): Promise<'absent' | 'exists'> {
    try {
      await this.#context.client.get({ gvr: NODES, name }, { signal });
      return 'exists';
    } catch (error) {
      if (isObjectNotFound(error, name)) return 'absent';
      throw error;
    }
  }
}
