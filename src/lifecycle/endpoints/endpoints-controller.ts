import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { isAlreadyExists, isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Service as RunningService } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { selectsPod } from '../endpointslice/endpointslice-controller.ts';
import type { Service } from '../endpointslice/endpointslice-reconcile.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { decideEndpoints, type Endpoints } from './endpoints-reconcile.ts';

const SERVICES: GroupVersionResource = { group: '', version: 'v1', resource: 'services' };
const ENDPOINTS: GroupVersionResource = { group: '', version: 'v1', resource: 'endpoints' };
const SETTLED: SyncOutcome = { next: 'settled' };
const WORKERS = 5;

/** Keeps the Endpoints object of each Service (`endpoints-controller`, LIFE-720), and deletes it with the Service. */
export class EndpointsController implements RunningService {
  readonly #context: SharedContext;
  readonly #services: SharedCache<Service>;
  readonly #pods: SharedCache<Pod>;
  readonly #endpoints: SharedCache<Endpoints>;
  readonly #loop: ReconcileLoop;

  constructor(context: SharedContext) {
    const { clock, logger, metrics, informers } = context;
    this.#context = context;
    this.#services = informers.of<Service>(SERVICES);
    this.#pods = informers.of<Pod>(PODS);
    this.#endpoints = informers.of<Endpoints>(ENDPOINTS);
    this.#loop = new ReconcileLoop({
      name: 'endpoint',
      clock,
      logger,
      metrics,
      caches: [this.#services, this.#pods, this.#endpoints],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const changed = (object: KubeObject): void => this.#loop.trigger(keyOf(object));
    const podChanged = (pod: Pod): void => {
      for (const service of this.#services.byIndex(BY_NAMESPACE, pod.metadata?.namespace ?? '')) {
        if (selectsPod(service, pod)) changed(service);
      }
    };
    const stops = [
      this.#services.addHandler({ added: changed, updated: (_, service) => changed(service), deleted: changed }),
      this.#pods.addHandler({
        added: podChanged,
        updated: (before, pod) => {
          podChanged(before);
          podChanged(pod);
        },
        deleted: podChanged,
      }),
      // Runs at start too, because the Service may have been deleted while no controller ran.
      this.#endpoints.addHandler({ added: changed, updated: (_, endpoints) => changed(endpoints), deleted: changed }),
    ];
    await this.#loop.run(signal);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, metrics } = this.#context;
    const service = this.#services.get(key);
    const there = this.#endpoints.get(key);
    const namespace = key.slice(0, key.indexOf('/'));
    const name = key.slice(namespace.length + 1);
    const pods =
      service === undefined
        ? []
        : this.#pods.byIndex(BY_NAMESPACE, namespace).filter((pod) => selectsPod(service, pod));
    const decision = decideEndpoints(service, pods, there);
    try {
      if (decision.verdict === 'create') {
        await client.create({ gvr: ENDPOINTS, namespace }, decision.endpoints, { signal });
      } else if (decision.verdict === 'update') {
        await client.update({ gvr: ENDPOINTS, namespace, name }, decision.endpoints, { signal });
      } else if (decision.verdict === 'delete' && there !== undefined) {
        const result = await deleteExactly(client, {
          gvr: ENDPOINTS,
          object: there,
          content: 'irrelevant',
          reason: decision.reason,
          signal,
        });
        const labels = { controller: 'endpoints-controller', resource: 'endpoints', reason: decision.reason, result };
        deletionCounter(metrics).inc(labels);
      }
    } catch (error) {
      if (isNamespaceTerminating(error) || isObjectNotFound(error, name)) return SETTLED;
      // The cache is behind. Its next event triggers the key again; if there is none, the back-off does.
      if (isConflict(error) || isAlreadyExists(error)) return { next: 'back-off' };
      throw error;
    }
    return SETTLED;
  }
}
