import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isConflict, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { isWithheld } from '../kit/dry-run.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import type { Expectations } from '../ownership/expectations.ts';
import { type EventSink, eventReference } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { decideClaimReferences, isStaleClaim } from './claim-retention.ts';
import { type Claim, claimsOf, ordinalOf, STATEFUL_SET_KIND, type StatefulSet } from './stateful-set.ts';

export const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const COMPONENT = 'statefulset-controller';

interface StatefulPodControlOptions extends SharedContext {
  readonly events: EventSink;
  readonly expectations: Expectations;
  readonly pods: SharedCache<Pod>;
  readonly claims: SharedCache<Claim>;
}

/** Creates and deletes pods of StatefulSets and their claims, with the events of kube-controller-manager (`StatefulPodControl`). */
export class StatefulPodControl {
  readonly #options: StatefulPodControlOptions;
  readonly #deletions: Counter;

  constructor(options: StatefulPodControlOptions) {
    this.#options = options;
    this.#deletions = deletionCounter(options.metrics);
  }

  /** Creates the claims of a pod, then the pod. Throws the server's refusal, and an error if a claim is terminating. */
  async create(key: string, set: StatefulSet, pod: Pod, signal: AbortSignal): Promise<void> {
    await this.#createClaims(key, set, pod, signal);
    const { client, expectations, pods } = this.#options;
    const namespace = set.metadata?.namespace ?? '';
    const name = pod.metadata?.name ?? '';
    try {
      const created = await client.create<Pod>({ gvr: PODS, namespace }, pod, { signal });
      expectations.wrote(key, pods, created);
    } catch (error) {
      if (!isAlreadyExists(error)) this.#failed(set, 'create', `Pod ${name}`, error, signal);
      throw error;
    }
    this.#succeeded(set, 'create', name);
  }

  /** Deletes exactly this pod in exactly this state. False if it is gone or has changed. */
  async delete(key: string, set: StatefulSet, pod: Pod, reason: string, signal: AbortSignal): Promise<boolean> {
    const { client, expectations, pods } = this.#options;
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = pod.metadata ?? {};
    const ref = { gvr: PODS, namespace, name };
    let result: 'deleted' | 'withheld';
    try {
      const answer = await client.delete(ref, { preconditions: { uid, resourceVersion } }, { signal, why: reason });
      result = isWithheld(answer) ? 'withheld' : 'deleted';
    } catch (error) {
      if (isObjectNotFound(error, name) || isConflict(error)) return false;
      this.#failed(set, 'delete', `Pod ${name}`, error, signal);
      throw error;
    }
    expectations.deleted(key, pods, pod);
    this.#deletions.inc({ controller: COMPONENT, resource: 'pods', reason, result });
    this.#succeeded(set, 'delete', name);
    return true;
  }

  /** Restores the identity labels of a pod. */
  async relabel(key: string, set: StatefulSet, pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, expectations, pods } = this.#options;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const written = await client.update<Pod>({ gvr: PODS, namespace, name }, pod, { signal });
    expectations.wrote(key, pods, written);
    this.#succeeded(set, 'update', name);
  }

  /** Sets the references of a pod's claims by the retention policy. */
  async retain(key: string, set: StatefulSet, pod: Pod, condemned: boolean, signal: AbortSignal): Promise<void> {
    const { client, expectations, claims, events } = this.#options;
    for (const { claim: named } of claimsOf(set, ordinalOf(set, pod) ?? 0)) {
      const { namespace = '', name = '' } = named.metadata ?? {};
      const claim = claims.get(`${namespace}/${name}`);
      if (claim === undefined) continue;
      const decision = decideClaimReferences(set, { claim, pod, condemned });
      if (decision.verdict === 'conflict') {
        const message = `StatefulSet ${namespace}/${set.metadata?.name ?? ''} has a conflicting OwnerReference on PVC ${namespace}/${name}, PVC will not be automatically deleted`;
        events.event(eventReference(STATEFUL_SET_KIND, set), {
          type: 'Warning',
          reason: 'ConflictingController',
          message,
        });
      }
      if (decision.verdict !== 'update') continue;
      const written = await client.update<Claim>({ gvr: CLAIMS, namespace, name }, decision.claim, { signal });
      expectations.wrote(key, claims, written);
    }
  }

  /** True if a claim of this pod belongs to an earlier pod of its name. */
  hasStaleClaim(set: StatefulSet, pod: KubeObject): boolean {
    if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false;
    return claimsOf(set, ordinalOf(set, pod) ?? 0).some(({ claim: { metadata } }) => {
      const claim = this.#options.claims.get(`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`);
      return claim !== undefined && isStaleClaim(claim, pod);
    });
  }

  async #createClaims(key: string, set: StatefulSet, pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, expectations, claims, events } = this.#options;
    for (const { claim } of claimsOf(set, ordinalOf(set, pod) ?? 0)) {
      const { namespace = '', name = '' } = claim.metadata ?? {};
      const known = claims.get(`${namespace}/${name}`);
      if (known !== undefined && isTerminating(known)) throw new Error(`pvc ${name} is being deleted`);
      if (known !== undefined) continue;
      const decided = decideClaimReferences(set, { claim, pod, condemned: false }).claim;
      try {
        expectations.wrote(key, claims, await client.create<Claim>({ gvr: CLAIMS, namespace }, decided, { signal }));
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        this.#failed(set, 'create', `Claim ${name} for Pod ${pod.metadata?.name ?? ''}`, error, signal);
        throw error;
      }
      const message = `create Claim ${name} Pod ${pod.metadata?.name ?? ''} in StatefulSet ${set.metadata?.name ?? ''} success`;
      events.event(eventReference(STATEFUL_SET_KIND, set), { type: 'Normal', reason: 'SuccessfulCreate', message });
    }
  }

  #succeeded(set: StatefulSet, verb: 'create' | 'delete' | 'update', name: string): void {
    const message = `${verb} Pod ${name} in StatefulSet ${set.metadata?.name ?? ''} successful`;
    const reason = `Successful${title(verb)}`;
    this.#options.events.event(eventReference(STATEFUL_SET_KIND, set), { type: 'Normal', reason, message });
  }

  #failed(set: StatefulSet, verb: 'create' | 'delete', what: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted || isNamespaceTerminating(error)) return;
    const message = `${verb} ${what} in StatefulSet ${set.metadata?.name ?? ''} failed error: ${StatusError.from(error).message}`;
    const reason = `Failed${title(verb)}`;
    this.#options.events.event(eventReference(STATEFUL_SET_KIND, set), { type: 'Warning', reason, message });
  }
}

const title = (verb: string): string => verb.charAt(0).toUpperCase() + verb.slice(1);
