import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_CONTROLLER, BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { controllerOf } from '../ownership/controller-reference.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import {
  claimsOf,
  claimStatusesOf,
  type ConsumerPod,
  decidePodClaims,
  decideResourceClaim,
  type ResourceClaim,
  type ResourceClaimTemplate,
} from './resourceclaim-reconcile.ts';

const resource = (name: string): GroupVersionResource => ({ group: 'resource.k8s.io', version: 'v1', resource: name });
const CLAIMS = resource('resourceclaims');
const TEMPLATES = resource('resourceclaimtemplates');
const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };
const CONTROLLER = 'resourceclaim-controller';
const SETTLED: SyncOutcome = { next: 'settled' };
const WORKERS = 50;
/** Maximum number of steps in one sync of a claim: its status, its finalizer, its deletion, and the reads before them. */
const MAX_STEPS = 6;

/** Creates claims from templates for pods, and deallocates claims that pods no longer need (`resourceclaim-controller`). */
export class ResourceClaimController implements Service {
  readonly #context: SharedContext;
  readonly #pods: SharedCache<Pod>;
  readonly #claims: SharedCache<ResourceClaim>;
  readonly #templates: SharedCache<ResourceClaimTemplate>;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: SharedContext & { readonly workers?: number }) {
    const { client, clock, random, logger, metrics, informers, workers = WORKERS } = context;
    this.#context = context;
    this.#pods = informers.of<Pod>(PODS);
    this.#claims = informers.of<ResourceClaim>(CLAIMS);
    this.#templates = informers.of<ResourceClaimTemplate>(TEMPLATES);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'resource_claim' });
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'resource_claim',
      clock,
      logger,
      metrics,
      caches: [this.#pods, this.#claims, this.#templates],
      workers,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const claim = (object: ResourceClaim): void => this.#loop.trigger(`c/${keyOf(object)}`);
    const pod = (object: Pod): void => {
      if (claimsOf(object).length === 0) return;
      this.#loop.trigger(`p/${keyOf(object)}`);
      const { namespace = '' } = object.metadata ?? {};
      for (const { resourceClaimName: name } of [...claimsOf(object), ...claimStatusesOf(object)]) {
        if (typeof name === 'string') this.#loop.trigger(`c/${namespace}/${name}`);
      }
    };
    const stops = [
      this.#pods.addHandler({ added: pod, updated: (_, object) => pod(object), deleted: pod }),
      this.#claims.addHandler({
        added: claim,
        updated: (_, object) => claim(object),
        deleted: (object) => {
          const owner = controllerOf(object);
          if (owner?.kind === 'Pod') this.#loop.trigger(`p/${object.metadata?.namespace ?? ''}/${owner.name}`);
        },
      }),
      this.#templates.addHandler({
        added: ({ metadata }) => this.#pods.byIndex(BY_NAMESPACE, metadata?.namespace ?? '').forEach(pod),
      }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const path = key.slice(2);
    try {
      return await (key.startsWith('p/') ? this.#syncPod(path, signal) : this.#syncClaim(path, signal));
    } catch (error) {
      if (isConflict(error)) return { next: 'back-off' };
      if (isNamespaceTerminating(error) || isObjectNotFound(error, path.slice(path.indexOf('/') + 1))) return SETTLED;
      throw error;
    }
  }

  async #syncClaim(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client } = this.#context;
    const namespace = key.slice(0, key.indexOf('/'));
    const name = key.slice(namespace.length + 1);
    const read = new Map<string, ConsumerPod>();
    let claim = this.#claims.get(key);
    for (let step = 0; claim !== undefined && step < MAX_STEPS; step++) {
      const decision = decideResourceClaim(
        claim,
        (podName) => this.#pods.get(`${namespace}/${podName}`) ?? read.get(podName) ?? 'unsure',
      );
      if (decision.verdict === 'nothing') return SETTLED;
      if (decision.verdict === 'readPods') {
        for (const podName of decision.names) read.set(podName, await this.#livePod(namespace, podName, signal));
      } else if (decision.verdict === 'setStatus') {
        const ref = { gvr: CLAIMS, namespace, name, subresource: 'status' };
        claim = await client.update<ResourceClaim>(ref, { ...claim, status: decision.status }, { signal });
      } else if (decision.verdict === 'removeFinalizer') {
        claim = await client.update<ResourceClaim>({ gvr: CLAIMS, namespace, name }, decision.claim, { signal });
      } else {
        const result = await deleteExactly(client, {
          gvr: CLAIMS,
          object: claim,
          content: 'irrelevant',
          reason: decision.reason,
          signal,
        });
        const labels = { controller: CONTROLLER, resource: CLAIMS.resource, reason: decision.reason, result };
        this.#deletions.inc(labels);
        return SETTLED;
      }
    }
    return SETTLED;
  }

  async #livePod(namespace: string, name: string, signal: AbortSignal): Promise<ConsumerPod> {
    try {
      return await this.#context.client.get<Pod>({ gvr: PODS, namespace, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return 'gone';
      throw error;
    }
  }

  async #syncPod(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client } = this.#context;
    const pod = this.#pods.get(key);
    if (pod === undefined) return SETTLED;
    const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
    const decisions = decidePodClaims(pod, {
      generated: this.#claims.byIndex(BY_CONTROLLER, uid),
      templateOf: (template) => this.#templates.get(`${namespace}/${template}`),
    });
    const statuses = [...claimStatusesOf(pod)];
    let failed = false;
    for (const decision of decisions) {
      if (decision.verdict === 'templateMissing') {
        failed = true;
        const message = `PodResourceClaim ${decision.name}: resource claim template "${decision.template}": resourceclaimtemplate.resource.k8s.io "${decision.template}" not found`;
        this.#warn(pod, message);
        continue;
      }
      try {
        const claim =
          decision.verdict === 'use'
            ? decision.claim
            : (await client.create<ResourceClaim>({ gvr: CLAIMS, namespace }, decision.claim, { signal })).metadata
                ?.name;
        statuses.push({ name: decision.name, ...(claim === undefined ? {} : { resourceClaimName: claim }) });
      } catch (error) {
        if (signal.aborted || isNamespaceTerminating(error)) throw error;
        failed = true;
        this.#warn(pod, `PodResourceClaim ${decision.name}: ${asError(error).message}`);
      }
    }
    if (statuses.length > claimStatusesOf(pod).length) {
      const body = { metadata: { uid }, status: { resourceClaimStatuses: statuses } };
      const ref = { gvr: PODS, namespace, name, subresource: 'status' };
      await client.patch(ref, { type: 'application/strategic-merge-patch+json', body }, { signal });
    }
    return failed ? { next: 'back-off' } : SETTLED;
  }

  #warn(pod: Pod, message: string): void {
    const event = { type: 'Warning', reason: 'FailedResourceClaimCreation', message } as const;
    this.#events.event(eventReference(POD_KIND, pod), event);
  }
}
