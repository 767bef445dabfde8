import { CUSTOM_RESOURCE_CLEANUP } from '../../api/deletion/definition-delete.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trails } from './trail.ts';

interface Emptying {
  readonly resource: DiscoveredResource | undefined;
  readonly objects: readonly string[];
}

/** The finalizer of definitions: deletes every object of a definition that is being deleted, then removes the definition (API-456). */
export class DefinitionEmptying implements SimulatedController {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #emptying = new Map<string, Emptying>();
  /** Definitions that were already terminating, by group and kind; checked when one of their objects is deleted. */
  readonly #before = new Map<string, string>();

  constructor(snapshot: Snapshot, server: SimulatedServer, trails: Trails) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#trails = trails;
    for (const uid of snapshot.terminating('apiextensions.k8s.io/v1', 'CustomResourceDefinition')) {
      const { name } = snapshot.graph.identityAt(snapshot.graph.find(uid));
      const resource = resourceOf(snapshot, { metadata: { name } });
      if (resource !== undefined) this.#before.set(`${resource.group} ${resource.kind}`, uid);
    }
  }

  /** Definitions whose objects are being deleted, with the remaining objects. */
  *remaining(): Iterable<{ readonly uid: string; readonly left: readonly string[] }> {
    for (const [uid, { objects }] of this.#emptying) {
      yield { uid, left: objects.filter((each) => !this.#server.removed.has(each)) };
    }
  }

  /** All objects that a definition deletes, gone or not. */
  readonly content = new Set<string>();

  terminating(uid: string, object: KubeObject): void {
    if (!isDefinition(object)) return;
    const resource = resourceOf(this.#snapshot, object);
    const objects = resource === undefined ? [] : objectsOf(this.#snapshot, resource);
    this.#emptying.set(uid, { resource, objects });
    const trail = this.#trails.of(uid);
    for (const each of objects) {
      this.#trails.add(trail, 'waitsFor', each);
      this.content.add(each);
    }
  }

  removed(_uid: string, object: KubeObject): void {
    const group = parseGroupVersion(object.apiVersion ?? '')?.group ?? '';
    const before = this.#before.get(`${group} ${object.kind}`);
    if (before !== undefined && !this.#emptying.has(before)) {
      const definition = this.#server.get(before);
      if (definition !== undefined) this.terminating(before, definition);
    }
    if (!isDefinition(object)) return;
    const resource = resourceOf(this.#snapshot, object);
    if (resource !== undefined) this.#server.stopServing(resource);
  }

  work(): boolean {
    const before = this.#server.version;
    for (const [uid, { objects }] of this.#emptying) {
      if (!this.#deleteAll(objects)) continue;
      this.#emptying.delete(uid);
      this.#server.removeFinalizer(uid, CUSTOM_RESOURCE_CLEANUP);
    }
    return this.#server.version !== before;
  }

  #deleteAll(uids: readonly string[]): boolean {
    let empty = true;
    for (const uid of uids) {
      if (this.#server.removed.has(uid)) continue;
      const trail = this.#trails.of(uid, 'definition');
      // Each object is deleted only once. The definition then waits for the programs that hold it.
      if (trail.cause === undefined) {
        trail.cause = 'definitionDeleted';
        this.#server.delete(uid, {});
      }
      if (!this.#server.removed.has(uid)) empty = false;
    }
    return empty;
  }
}

function isDefinition({ apiVersion = '', kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.k8s.io/');
}

/** The name of a definition is `<plural>.<group>`. */
function resourceOf({ catalogue }: Snapshot, { metadata }: KubeObject): DiscoveredResource | undefined {
  const [plural = '', ...group] = (metadata?.name ?? '').split('.');
  return catalogue.ofGroup(group.join('.'), plural);
}

function objectsOf({ graph, catalogue }: Snapshot, resource: DiscoveredResource): string[] {
  const { apiVersion, resource: plural } = catalogue.monitored(resource);
  const found: string[] = [];
  graph.forEachNode((id) => {
    if (!graph.isObserved(id) || graph.resourceAt(id) !== plural) return;
    if (graph.typeAt(id).apiVersion === apiVersion) found.push(graph.uidAt(id));
  });
  return found;
}
