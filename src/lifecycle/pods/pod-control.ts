import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { isConflict, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import { validateName } from '../../api/validation/names.ts';
import type { Counter, Metrics } from '../../base/metrics/metrics.ts';
import type { EventType, ObjectReference } from '../../client/events/event-correlator.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { isWithheld } from '../kit/dry-run.ts';
import type { OwnerKind } from '../ownership/controller-reference.ts';
import { type Pod, PODS } from './pod-object.ts';

/** Template of pods in the spec of a workload. */
export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec?: Pod['spec'];
}

/** A receiver of Events: an `EventRecorder`. */
export interface EventSink {
  event(
    involvedObject: ObjectReference,
    event: { readonly type: EventType; readonly reason: string; readonly message: string },
  ): void;
}

interface PodControlOptions {
  readonly client: RestClient;
  readonly events: EventSink;
  readonly metrics: Metrics;
  /** The controller's name in the metric of deletions. */
  readonly controller: string;
  readonly ownerKind: OwnerKind;
}

/** Creates and deletes pods for owners of one kind, with the events of kube-controller-manager (`RealPodControl`). */
export class PodControl {
  readonly #options: PodControlOptions;
  readonly #deletions: Counter;

  constructor(options: PodControlOptions) {
    this.#options = options;
    this.#deletions = deletionCounter(options.metrics);
  }

  /**
   * Creates a pod and records an Event for the owner. Throws the server's refusal. A terminating namespace causes no Event, because nothing
   * can be done about it (LIFE-011).
   */
  async create(owner: KubeObject, pod: Pod, signal: AbortSignal): Promise<Pod> {
    const { client, events } = this.#options;
    const namespace = owner.metadata?.namespace ?? '';
    try {
      const created = await client.create<Pod>({ gvr: PODS, namespace }, pod, { signal });
      const message = `Created pod: ${created.metadata?.name ?? ''}`;
      events.event(this.#reference(owner), { type: 'Normal', reason: 'SuccessfulCreate', message });
      return created;
    } catch (error) {
      if (!signal.aborted && !isNamespaceTerminating(error)) {
        const message = `Error creating: ${StatusError.from(error).message}`;
        events.event(this.#reference(owner), { type: 'Warning', reason: 'FailedCreate', message });
      }
      throw error;
    }
  }

  /**
   * Deletes exactly this pod in exactly this state (LIFE-013). False if it is already gone or has changed, so that the owner decides again.
   * Throws any other refusal, with its Event.
   */
  async delete(owner: KubeObject, pod: Pod, reason: string, signal: AbortSignal): Promise<boolean> {
    const { client, events, controller } = this.#options;
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = pod.metadata ?? {};
    const labels = { controller, resource: 'pods', reason };
    const ref = { gvr: PODS, namespace, name };
    try {
      const answer = await client.delete(ref, { preconditions: { uid, resourceVersion } }, { signal, why: reason });
      this.#deletions.inc({ ...labels, result: isWithheld(answer) ? 'withheld' : 'deleted' });
      events.event(this.#reference(owner), {
        type: 'Normal',
        reason: 'SuccessfulDelete',
        message: `Deleted pod: ${name}`,
      });
      return true;
    } catch (error) {
      if (isObjectNotFound(error, name)) return false;
      if (isConflict(error)) return false;
      this.#deletions.inc({ ...labels, result: 'failed' });
      if (!signal.aborted) {
        const message = `Error deleting: ${StatusError.from(error).message}`;
        events.event(this.#reference(owner), { type: 'Warning', reason: 'FailedDelete', message });
      }
      throw error;
    }
  }

  #reference(owner: KubeObject): ObjectReference {
    return eventReference(this.#options.ownerKind, owner);
  }
}

/** The reference to an object in its events. */
export function eventReference({ apiVersion, kind }: OwnerKind, { metadata }: KubeObject): ObjectReference {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

/** A pod from a template, owned by one controller (LIFE-264). */
export function podFromTemplate(template: PodTemplate, ownerName: string, reference: OwnerReference): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: podNamePrefix(ownerName),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [reference],
    },
    spec: { ...template.spec },
  };
}

/** The owner's name and a dash, without the dash if the result is not a valid prefix. */
function podNamePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`;
  return validateName('dnsSubdomain', prefix, { prefix: true }).length > 0 ? ownerName : prefix;
}
