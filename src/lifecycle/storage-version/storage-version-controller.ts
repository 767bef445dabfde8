import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import {
  decideStorageVersion,
  isIdentityLease,
  serversOf,
  type ServerView,
  type StorageVersion,
} from './storage-version-reconcile.ts';

const STORAGE_VERSIONS: GroupVersionResource = {
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  resource: 'storageversions',
};
const LEASES: GroupVersionResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const NAMESPACE = 'kube-system';
const CONTROLLER = 'storageversion-garbage-collector-controller';
const SETTLED: SyncOutcome = { next: 'settled' };
const WORKERS = 1;

/**
 * Removes the entries of API servers that are gone from StorageVersions, and deletes those without an entry
 * (`storageversion-garbage-collector-controller`, LIFE-730). It drops no entry without a live read of the server's lease.
 */
export class StorageVersionController implements Service {
  readonly #context: SharedContext;
  readonly #objects: SharedCache<StorageVersion>;
  readonly #leases: SharedCache;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: SharedContext) {
    const { clock, logger, metrics, informers } = context;
    this.#context = context;
    this.#objects = informers.of<StorageVersion>(STORAGE_VERSIONS);
    this.#leases = informers.of(LEASES, NAMESPACE);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'storage_version_garbage_collector',
      clock,
      logger,
      metrics,
      caches: [this.#objects, this.#leases],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const changed = (object: KubeObject): void => this.#loop.trigger(keyOf(object));
    const gone = ({ metadata }: KubeObject): void =>
      this.#objects
        .list()
        .filter((object) => serversOf(object).includes(metadata?.name ?? ''))
        .forEach(changed);
    const stops = [
      this.#objects.addHandler({ added: changed, updated: (_, object) => changed(object) }),
      this.#leases.addHandler({ deleted: gone }),
    ];
    await this.#loop.run(signal);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const object = this.#objects.get(key);
    if (object === undefined) return SETTLED;
    const read = new Map<string, ServerView>();
    const decide = () =>
      decideStorageVersion(object, (server) => read.get(server) ?? this.#inCache(server), clock.now());
    let decision = decide();
    if (decision.verdict === 'readLeases') {
      for (const name of decision.names) read.set(name, await this.#live(name, signal));
      decision = decide();
    }
    if (decision.verdict === 'update') {
      // Not on a newer state: a server may have added its entry there.
      const next = { ...object, status: decision.status };
      const result = await updateExactly(client, {
        gvr: STORAGE_VERSIONS,
        object: next,
        subresource: 'status',
        signal,
      });
      if (result === 'changed') return { next: 'back-off' };
    }
    if (decision.verdict === 'delete') {
      const result = await deleteExactly(client, { gvr: STORAGE_VERSIONS, object, reason: decision.reason, signal });
      this.#deletions.inc({ controller: CONTROLLER, resource: 'storageversions', reason: decision.reason, result });
      logger.info('deleted a StorageVersion whose API servers are gone', { name: key, result });
      if (result === 'changed') return { next: 'back-off' };
    }
    return SETTLED;
  }

  #inCache(server: string): ServerView {
    const lease = this.#leases.get(`${NAMESPACE}/${server}`);
    return lease !== undefined && isIdentityLease(lease) ? 'alive' : 'unsure';
  }

  async #live(name: string, signal: AbortSignal): Promise<ServerView> {
    try {
      const lease = await this.#context.client.get({ gvr: LEASES, namespace: NAMESPACE, name }, { signal });
      return isIdentityLease(lease) ? 'alive' : 'gone';
    } catch (error) {
      if (isObjectNotFound(error, name)) return 'gone';
      throw error;
    }
  }
}
