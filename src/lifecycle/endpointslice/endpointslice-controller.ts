import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { labelSelectorFromSet } from '../../api/selectors/label-selector.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Service as RunningService } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { isWithheld } from '../kit/dry-run.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { Expectations } from '../ownership/expectations.ts';
import { type Node, NODES, type Pod, PODS } from '../pods/pod-object.ts';
import {
  decideSlices,
  type EndpointSlice,
  MANAGED_BY,
  MANAGER,
  type Service,
  SERVICE_NAME,
} from './endpointslice-reconcile.ts';

const SERVICES: GroupVersionResource = { group: '', version: 'v1', resource: 'services' };
const SLICES: GroupVersionResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const COMPONENT = 'endpointslice-controller';
const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

/** Runs kube-controller-manager's `endpointslice-controller` (LIFE-720). The collector deletes the slices of a deleted Service. */
export class EndpointSliceController implements RunningService {
  readonly #options: SharedContext;
  readonly #services: SharedCache<Service>;
  readonly #pods: SharedCache<Pod>;
  readonly #nodes: SharedCache<Node>;
  readonly #slices: SharedCache<EndpointSlice>;
  readonly #expectations: Expectations;
  readonly #loop: ReconcileLoop;

  constructor(options: SharedContext) {
    const { clock, logger, metrics, informers } = options;
    this.#options = options;
    this.#services = informers.of<Service>(SERVICES);
    this.#pods = informers.of<Pod>(PODS);
    this.#nodes = informers.of<Node>(NODES);
    this.#slices = informers.of<EndpointSlice>(SLICES);
    this.#expectations = new Expectations(clock);
    this.#loop = new ReconcileLoop({
      name: 'endpoint_slice',
      clock,
      logger,
      metrics,
      caches: [this.#services, this.#pods, this.#nodes, this.#slices],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (service: KubeObject): void => this.#loop.trigger(keyOf(service));
    const podChanged = (pod: Pod): void => {
      for (const service of this.#services.byIndex(BY_NAMESPACE, pod.metadata?.namespace ?? '')) {
        if (selectsPod(service, pod)) look(service);
      }
    };
    const sliceChanged = ({ metadata }: EndpointSlice): void => {
      if (metadata?.labels?.[MANAGED_BY] !== MANAGER) return;
      this.#loop.trigger(`${metadata.namespace ?? ''}/${metadata.labels[SERVICE_NAME] ?? ''}`);
    };
    const stops = [
      this.#services.addHandler({ added: look, updated: (_, service) => look(service), deleted: look }),
      this.#pods.addHandler({
        added: podChanged,
        updated: (before, pod) => {
          podChanged(before);
          if (!deepEqual(before.metadata?.labels, pod.metadata?.labels)) podChanged(pod);
        },
        deleted: podChanged,
      }),
      this.#slices.addHandler({ updated: (_, slice) => sliceChanged(slice), deleted: sliceChanged }),
    ];
    await this.#loop.run(signal);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const service = this.#services.get(key);
    if (service === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (isTerminating(service) || service.spec?.type === 'ExternalName' || service.spec?.selector === undefined)
      return SETTLED;
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const { namespace = '', name = '' } = service.metadata ?? {};
    const slices = this.#slices
      .byIndex(BY_NAMESPACE, namespace)
      .filter(({ metadata }) => metadata?.labels?.[MANAGED_BY] === MANAGER && metadata.labels[SERVICE_NAME] === name);
    const pods = this.#pods.byIndex(BY_NAMESPACE, namespace).filter((pod) => selectsPod(service, pod));
    const changes = decideSlices({ service, pods, slices, nodeOf: (node) => this.#nodes.get(node) });
    const { client, metrics } = this.#options;
    const options = { signal };
    try {
      for (const slice of changes.create) {
        this.#wrote(key, await client.create<EndpointSlice>({ gvr: SLICES, namespace }, slice, options));
      }
      for (const slice of changes.update) {
        const ref = { gvr: SLICES, namespace, name: slice.metadata?.name ?? '' };
        this.#wrote(key, await client.update<EndpointSlice>(ref, slice, options));
      }
      for (const slice of changes.delete) {
        const { name: sliceName = '', uid = '', resourceVersion = '' } = slice.metadata ?? {};
        const ref = { gvr: SLICES, namespace, name: sliceName };
        const answer = await client.delete(
          ref,
          { preconditions: { uid, resourceVersion } },
          { ...options, why: 'surplus' },
        );
        const result = isWithheld(answer) ? 'withheld' : 'deleted';
        this.#expectations.deleted(key, this.#slices, slice);
        const labels = { controller: COMPONENT, resource: 'endpointslices', reason: 'surplus', result };
        deletionCounter(metrics).inc(labels);
      }
    } catch (error) {
      if (isNamespaceTerminating(error)) return SETTLED;
      if (isConflict(error) || changes.delete.some(({ metadata }) => isObjectNotFound(error, metadata?.name ?? ''))) {
        return { next: 'back-off' };
      }
      throw error;
    }
    return SETTLED;
  }

  #wrote(key: string, slice: EndpointSlice): void {
    this.#expectations.wrote(key, this.#slices, slice);
  }
}

export function selectsPod({ spec }: Service, { metadata }: Pod): boolean {
  return (
    spec?.selector !== undefined &&
    Object.keys(spec.selector).length > 0 &&
    labelSelectorFromSet(spec.selector).matches(metadata?.labels)
  );
}
