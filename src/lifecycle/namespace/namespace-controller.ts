import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { Informer } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Compatibility } from '../kit/compatibility.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop } from '../kit/reconcile-loop.ts';
import { NAMESPACES, NamespacedResourcesDeleter } from './namespaced-resources-deleter.ts';
import { SharedDiscovery } from './shared-discovery.ts';

export interface NamespaceControllerOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Number of namespaces that are emptied concurrently; 10 in Kubernetes. */
  readonly concurrentNamespaceSyncs?: number;
  /**
   * Delay between a namespace's deletion and the first read of its content. With several API servers 5 s, as upstream, because one of them
   * may admit a write before it sees the deletion. With one server it is 0, unless `compat` is `strict` (LIFE-449).
   */
  readonly deletionDelayMs?: number;
  readonly compat?: Compatibility;
  /** Maximum interval between syncs of a terminating namespace; 5 minutes in Kubernetes. */
  readonly resyncMs?: number;
}

const RESYNC_MS = 5 * 60_000;
/** Upstream's delay. */
const STRICT_DELAY_MS = 5000;
const BACK_OFF_CAP_MS = 60_000;

/** Empties deleted namespaces and then removes their finalizer (LIFE-440). Live namespaces cost nothing. */
export class NamespaceController implements Service {
  readonly #options: NamespaceControllerOptions;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, metrics } = this.#options;
    const { concurrentNamespaceSyncs = 10, resyncMs = RESYNC_MS, compat = 'improved' } = this.#options;
    const { deletionDelayMs = compat === 'strict' ? STRICT_DELAY_MS : 0 } = this.#options;
    const namespaces = new Informer({ client, clock, random, logger, gvr: NAMESPACES });
    const discovery = new SharedDiscovery((stop) => discover(client, { signal: stop }));
    const deleter = new NamespacedResourcesDeleter({
      client,
      clock,
      logger,
      compat,
      deletions: deletionCounter(metrics),
      discover: (stop) => discovery.next(stop),
    });
    const loop = new ReconcileLoop({
      name: 'namespace',
      clock,
      logger,
      metrics,
      caches: [namespaces],
      workers: concurrentNamespaceSyncs,
      backOffCapMs: BACK_OFF_CAP_MS,
      sync: (name, stop) => deleter.delete(name, stop),
      resync: { everyMs: resyncMs, keys: () => namespaces.list().filter(isTerminating).map(nameOf) },
    });
    namespaces.addHandler({
      added(namespace) {
        if (isTerminating(namespace)) loop.trigger(nameOf(namespace), deletionDelayMs);
      },
      // Only the deletion itself counts, because later changes are mostly the conditions that this controller writes.
      updated(previous, namespace) {
        if (isTerminating(namespace) && !isTerminating(previous)) loop.trigger(nameOf(namespace), deletionDelayMs);
      },
    });
    await loop.run(signal);
  }
}

function isTerminating({ metadata }: KubeObject): boolean {
  return Boolean(metadata?.deletionTimestamp);
}

function nameOf({ metadata }: KubeObject): string {
  return metadata?.name ?? '';
}
