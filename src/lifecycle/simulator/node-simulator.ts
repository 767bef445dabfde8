import { isAlreadyExists, isNotFound } from '../../api/status-error.ts';
import { sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { NODES } from '../pods/pod-object.ts';
import { simulatedLease, simulatedNode } from './simulated-node.ts';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
/** Interval between attempts to write a node. */
const RETRY_MS = 1000;

export interface NodeSimulatorOptions extends ControllerContext {
  readonly nodes: number;
}

/**
 * Registers nodes `kubegc-0`, `kubegc-1`, … once, like kubelets at their start (LIFE-530). A node that is deleted later is not restored.
 */
export class NodeSimulator implements Service {
  readonly #options: NodeSimulatorOptions;

  constructor(options: NodeSimulatorOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, nodes } = this.#options;
    for (let index = 0; index < nodes && !signal.aborted;) {
      const name = `kubegc-${index}`;
      try {
        await this.#register(name, signal);
        index++;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('failed to register a simulated node, will retry', { name, error: asError(error).message });
        await sleepUnlessAborted(clock, RETRY_MS, signal);
      }
    }
  }

  async #register(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const now = clock.now();
    try {
      const { metadata } = await client.create({ gvr: NODES }, simulatedNode(name, now), { signal });
      const lease = simulatedLease(name, metadata?.uid ?? '', now);
      await client.create({ gvr: LEASES, namespace: 'kube-node-lease' }, lease, { signal });
    } catch (error) {
      // A node of an earlier start, or its lease, exists; or the namespace of leases is being deleted.
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
  }
}
