import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { bodyNeedKey, type BodyNeeds } from './body-need.ts';
import { isOfKind, type SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trails } from './trail.ts';

/** Which of the two parts exist. */
export interface NodeActors {
  /** True if each node ends its pods after their grace period. */
  readonly kubelet: boolean;
  /** True if pods of missing nodes are deleted. */
  readonly podCollection: boolean;
}

/** The end of pods with a node: the node shuts them down, or pod collection deletes them if the node is gone. */
export class Nodes implements SimulatedController {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #needs: BodyNeeds;
  readonly #actors: NodeActors;
  readonly #pods = new Set<string>();
  readonly #gone: { readonly uid: string; readonly name: string }[] = [];

  constructor(
    snapshot: Snapshot,
    server: SimulatedServer,
    trails: Trails,
    { needs, actors }: { readonly needs: BodyNeeds; readonly actors: NodeActors },
  ) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#trails = trails;
    this.#needs = needs;
    this.#actors = actors;
  }

  terminating(uid: string, object: KubeObject): void {
    if (!isOfKind(object, 'v1', 'Pod')) return;
    this.#needPod(object);
    const seconds = object.metadata?.deletionGracePeriodSeconds ?? 0;
    if (seconds === 0) return;
    this.#trails.of(uid).graceSeconds = seconds;
    this.#pods.add(uid);
  }

  removed(uid: string, object: KubeObject): void {
    this.#pods.delete(uid);
    if (isOfKind(object, 'v1', 'Pod')) this.#needPod(object);
    if (!isOfKind(object, 'v1', 'Node') || !this.#actors.podCollection) return;
    const name = object.metadata?.name ?? '';
    this.#needs.add({ resource: 'pods', node: name });
    this.#gone.push({ uid, name });
  }

  work(): boolean {
    const before = this.#server.version;
    for (const node of this.#gone.splice(0)) this.#collect(node);
    if (this.#actors.kubelet) {
      for (const uid of this.#pods) {
        this.#pods.delete(uid);
        this.#server.delete(uid, { gracePeriodSeconds: 0, propagationPolicy: policyOf(this.#server.get(uid)) });
      }
    }
    return this.#server.version !== before;
  }

  /** The node of a pod, and its grace period, are in its specification. */
  #needPod({ metadata }: KubeObject): void {
    this.#needs.add({ resource: 'pods', namespace: metadata?.namespace ?? '' });
  }

  #collect({ uid: node, name }: { readonly uid: string; readonly name: string }): void {
    for (const { metadata } of this.#snapshot.bodiesOf(bodyNeedKey({ resource: 'pods', node: name })) ?? []) {
      const uid = metadata?.uid ?? '';
      if (this.#server.get(uid) === undefined) continue;
      const trail = this.#trails.of(uid, 'node');
      trail.cause ??= 'nodeRemoved';
      this.#trails.add(trail, 'waitsFor', node);
      this.#server.delete(uid, { gracePeriodSeconds: 0 });
    }
  }
}

/** The node deletes with the policy of the original request. */
function policyOf(pod: KubeObject | undefined): 'Background' | 'Foreground' | 'Orphan' {
  const finalizers = pod?.metadata?.finalizers ?? [];
  if (finalizers.includes('orphan')) return 'Orphan';
  return finalizers.includes('foregroundDeletion') ? 'Foreground' : 'Background';
}
