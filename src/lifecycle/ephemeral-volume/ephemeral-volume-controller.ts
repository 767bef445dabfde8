import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { isAlreadyExists } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { controllerOf } from '../ownership/controller-reference.ts';
import { eventReference } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { decideEphemeralVolumes, ephemeralVolumes } from './ephemeral-volume-reconcile.ts';

const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const POD_KIND = { apiVersion: 'v1', kind: 'Pod' };
const SETTLED: SyncOutcome = { next: 'settled' };
const WORKERS = 5;

/** Creates the claims of generic ephemeral volumes (`ephemeral-volume-controller`, LIFE-700). */
export class EphemeralVolumeController implements Service {
  readonly #context: SharedContext;
  readonly #pods: SharedCache<Pod>;
  readonly #claims: SharedCache;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;
  readonly #created: Counter;
  readonly #failed: Counter;

  constructor(context: SharedContext) {
    const { client, clock, random, logger, metrics, informers } = context;
    this.#context = context;
    this.#pods = informers.of<Pod>(PODS);
    this.#claims = informers.of(CLAIMS);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'ephemeral_volume' });
    this.#created = metrics.counter({
      name: 'ephemeral_volume_controller_create_total',
      help: 'Number of PersistentVolumeClaim creation requests',
    });
    this.#failed = metrics.counter({
      name: 'ephemeral_volume_controller_create_failures_total',
      help: 'Number of PersistentVolumeClaim creation requests that failed',
    });
    this.#loop = new ReconcileLoop({
      name: 'ephemeral_volume',
      clock,
      logger,
      metrics,
      caches: [this.#pods, this.#claims],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const stops = [
      this.#pods.addHandler({
        added: (pod) => {
          if (ephemeralVolumes(pod).length > 0) this.#loop.trigger(keyOf(pod));
        },
      }),
      // A claim that is deleted early is created again while its pod lives.
      this.#claims.addHandler({
        deleted: (claim) => {
          const owner = controllerOf(claim);
          if (owner?.kind === 'Pod') this.#loop.trigger(`${claim.metadata?.namespace ?? ''}/${owner.name}`);
        },
      }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const pod = this.#pods.get(key);
    const namespace = key.slice(0, key.indexOf('/'));
    const decisions = decideEphemeralVolumes(pod, (name) => this.#claims.get(`${namespace}/${name}`));
    let failed = false;
    for (const decision of decisions) {
      const problem =
        decision.verdict === 'conflict' ? decision.message : await this.#create(decision.claim, namespace, signal);
      if (problem === undefined) continue;
      failed = true;
      const event = { type: 'Warning', reason: 'FailedBinding', message: `ephemeral volume: ${problem}` } as const;
      if (pod !== undefined) this.#events.event(eventReference(POD_KIND, pod), event);
    }
    return failed ? { next: 'back-off' } : SETTLED;
  }

  /** The problem; undefined if the claim exists, or its namespace is terminating. */
  async #create(claim: object, namespace: string, signal: AbortSignal): Promise<string | undefined> {
    this.#created.inc();
    try {
      await this.#context.client.create({ gvr: CLAIMS, namespace }, claim, { signal });
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed.inc();
      if (isNamespaceTerminating(error)) return undefined;
      // If the claim exists, the watch will show it with its owner.
      return isAlreadyExists(error) ? undefined : `create PVC: ${asError(error).message}`;
    }
  }
}
