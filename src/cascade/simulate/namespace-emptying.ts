import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { BodyNeeds } from './body-need.ts';
import { isOfKind, type SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trails } from './trail.ts';

const NAMESPACE_FINALIZER = 'kubernetes';

interface Emptying {
  readonly uid: string;
  readonly pods: readonly string[];
  readonly others: readonly string[];
}

/**
 * The namespace controller: deletes the content of a terminating namespace, pods first and alone, then removes the namespace (LIFE-441).
 */
export class NamespaceEmptying implements SimulatedController {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #needs: BodyNeeds;
  readonly #emptying = new Map<string, Emptying>();
  /** Namespaces that were already terminating, by name; checked when one of their objects is deleted. */
  readonly #before = new Map<string, string>();

  constructor(snapshot: Snapshot, server: SimulatedServer, trails: Trails, needs: BodyNeeds) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#trails = trails;
    this.#needs = needs;
    for (const uid of snapshot.terminating('v1', 'Namespace')) {
      this.#before.set(snapshot.graph.nameAt(snapshot.graph.find(uid)), uid);
    }
  }

  /** Namespaces that are being emptied, with the remaining objects. */
  *remaining(): Iterable<{ readonly uid: string; readonly left: readonly string[]; readonly podsFirst: boolean }> {
    for (const { uid, pods, others } of this.#emptying.values()) {
      const leftPods = pods.filter((each) => !this.#server.removed.has(each));
      const left = others.filter((each) => !this.#server.removed.has(each));
      yield { uid, left: [...leftPods, ...left], podsFirst: leftPods.length > 0 };
    }
  }

  /** All objects that a namespace deletes, gone or not. */
  readonly content = new Set<string>();

  terminating(uid: string, object: KubeObject): void {
    if (!isOfKind(object, 'v1', 'Namespace')) return;
    this.#needs.add({ resource: 'namespaces' });
    const name = object.metadata?.name ?? '';
    const content = contentOf(this.#snapshot, name);
    this.#emptying.set(name, { uid, ...content });
    const trail = this.#trails.of(uid);
    for (const each of [...content.pods, ...content.others]) {
      this.#trails.add(trail, 'waitsFor', each);
      this.content.add(each);
    }
  }

  removed(_uid: string, { metadata }: KubeObject): void {
    const name = metadata?.namespace ?? '';
    const uid = this.#before.get(name);
    if (uid === undefined || this.#emptying.has(name)) return;
    this.#needs.add({ resource: 'namespaces' });
    this.#emptying.set(name, { uid, ...contentOf(this.#snapshot, name) });
  }

  work(): boolean {
    const before = this.#server.version;
    for (const [name, emptying] of this.#emptying) {
      if (!this.#deleteAll(emptying.pods)) continue;
      if (!this.#deleteAll(emptying.others)) continue;
      // A failed discovery keeps the namespace (LIFE-442).
      if (this.#snapshot.catalogue.discovery.failedGroupVersions.size > 0) continue;
      this.#finalize(emptying.uid);
      this.#emptying.delete(name);
    }
    return this.#server.version !== before;
  }

  /** Returns true if all of them are gone. */
  #deleteAll(uids: readonly string[]): boolean {
    let empty = true;
    for (const uid of uids) {
      if (this.#server.removed.has(uid)) continue;
      const trail = this.#trails.of(uid, 'namespace');
      trail.cause ??= 'namespaceEmptied';
      this.content.add(uid);
      const { answer } = this.#server.delete(uid, { propagationPolicy: 'Background' });
      if (answer !== 'removed' && answer !== 'absent') empty = false;
    }
    return empty;
  }

  #finalize(uid: string): void {
    const namespace = this.#server.get(uid);
    if (namespace === undefined) return;
    const spec = (namespace['spec'] ?? {}) as { finalizers?: readonly string[] };
    const finalizers = (spec.finalizers ?? []).filter((name) => name !== NAMESPACE_FINALIZER);
    this.#server.change(uid, { spec: { ...spec, finalizers } });
  }
}

function contentOf({ graph }: Snapshot, namespace: string): Pick<Emptying, 'pods' | 'others'> {
  const pods: string[] = [];
  const others: string[] = [];
  graph.forEachNode((id) => {
    if (!graph.isObserved(id)) return;
    const identity = graph.identityAt(id);
    if (identity.namespace !== namespace) return;
    const isPod = identity.apiVersion === 'v1' && graph.resourceAt(id) === 'pods';
    (isPod ? pods : others).push(identity.uid);
  });
  return { pods, others };
}
