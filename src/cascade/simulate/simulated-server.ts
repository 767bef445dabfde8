import { isRemovedByUpdate } from '../../api/deletion/after-update.ts';
import { decideDelete } from '../../api/deletion/before-delete.ts';
import { decideDefinitionDelete } from '../../api/deletion/definition-delete.ts';
import type { DeleteDecision } from '../../api/deletion/delete-decision.ts';
import type { DeleteOptions } from '../../api/deletion/delete-options.ts';
import { decideNamespaceDelete } from '../../api/deletion/namespace-delete.ts';
import { graceRuleOf } from '../../api/deletion/pod-grace.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { isNamespaces, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { assert } from '../../base/errors/assert.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';
import { type LiveObject, liveObjectOf } from '../../collector/decide/live-object.ts';
import type { Target } from '../../collector/decide/target.ts';
import { apply } from '../../collector/graph/apply.ts';
import type { Effect } from '../../collector/graph/effect.ts';
import type { GraphEvent } from '../../collector/types/event.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { deletableInfo } from './deletable-info.ts';
import type { ObjectNumbers } from './object-numbers.ts';
import { RemovedObjects, type UidSet } from './removed-objects.ts';

/** The outcome of a DELETE. */
export type SimulatedDelete =
  | { readonly answer: 'removed' | 'updated' | 'unchanged' | 'absent' }
  | { readonly answer: 'conflict' | 'refused'; readonly message: string };

export type SimulatedWrite = 'accepted' | 'absent' | 'conflict';

export interface ServerListener {
  /** Receives the effects of the graph after a write, and carries them out immediately. */
  effects(effects: readonly Effect[]): void;
  /** An object was removed. `object` is its last state. */
  removed(uid: string, object: KubeObject): void;
  /** An object began to terminate. */
  terminating(uid: string, object: KubeObject): void;
}

/** Versions of simulated writes, above all real ones. */
const FIRST_VERSION = 2 ** 52;

/**
 * The deletion part of an API server, in memory, over a snapshot (CAS-010). It decides by `api/deletion`, like the embedded server, and
 * applies every write to its copy of the graph at once. It stores only objects that were written.
 */
export class SimulatedServer {
  /** A copy of the snapshot's, which only `apply` changes: a branch, unless most of its pages will be written. */
  readonly graph: OwnershipGraph;
  readonly #snapshot: Snapshot;
  readonly #listener: ServerListener;
  readonly #now: number;
  readonly #numbers: ObjectNumbers;
  /** The current state of objects that were written. */
  readonly #written = new Map<string, KubeObject>();
  readonly #removed: RemovedObjects;
  readonly #infos = new Map<DiscoveredResource, ResourceInfo>();
  /** Resources whose definition was removed. */
  readonly #unserved = new Set<DiscoveredResource>();
  #version = FIRST_VERSION;

  /** @param now milliseconds since the epoch */
  constructor(
    snapshot: Snapshot,
    numbers: ObjectNumbers,
    { now, listener }: { readonly now: number; readonly listener: ServerListener },
  ) {
    this.#snapshot = snapshot;
    this.#numbers = numbers;
    this.#removed = new RemovedObjects(numbers);
    this.#now = now;
    this.#listener = listener;
    this.graph = numbers.expected > 0 ? snapshot.graph.clone() : snapshot.graph.branch();
  }

  /** Increases with every write. */
  get version(): number {
    return this.#version;
  }

  get removed(): UidSet {
    return this.#removed;
  }

  /** Objects that were written and still exist. */
  get written(): ReadonlyMap<string, KubeObject> {
    return this.#written;
  }

  /** The current object; undefined if there is none, or none was listed. */
  get(uid: string): KubeObject | undefined {
    const written = this.#written.size === 0 ? undefined : this.#written.get(uid);
    if (written !== undefined) return written;
    if (this.#removed.has(uid)) return undefined;
    const { graph } = this.#snapshot;
    const id = this.#nodeOf(uid);
    if (id < 0 || !graph.isObserved(id)) return undefined;
    const { apiVersion, kind } = this.#snapshot.typeAt(id);
    const { spec, status } = this.#snapshot.body(uid) ?? {};
    return {
      apiVersion,
      kind,
      metadata: this.#snapshot.metadataOf(id, uid),
      ...(spec === undefined ? {} : { spec }),
      ...(status === undefined ? {} : { status }),
    };
  }

  /** The resource of an object; undefined if it was not listed. */
  resourceOf(uid: string): DiscoveredResource | undefined {
    const id = this.#nodeOf(uid);
    return id < 0 ? undefined : this.#snapshot.resourceOf(id);
  }

  /** The node in the snapshot; -1 if there is none. */
  #nodeOf(uid: string): number {
    const number = this.#numbers.of(uid);
    return number < this.#numbers.nodes ? number : -1;
  }

  /** A read at coordinates. `unknown` if the resource could not be listed. */
  read(target: Target): LiveObject | 'absent' | 'unknown' {
    const { uid, resource, namespace, name, apiVersion } = target;
    const object = this.get(uid);
    const found = object === undefined ? undefined : this.resourceOf(uid);
    const group = parseGroupVersion(apiVersion)?.group;
    if (object !== undefined && found?.resource === resource && found.group === group) {
      const { metadata = {} } = object;
      if (metadata.name === name && (metadata.namespace ?? '') === namespace) return liveObjectOf(metadata);
    }
    const served = this.#snapshot.catalogue.ofGroup(group ?? '', resource);
    const isListed = served !== undefined && !this.#snapshot.isIncomplete(served);
    // Another object may have the name; for the object with this uid the answer is the same.
    return isListed ? 'absent' : 'unknown';
  }

  /** True if no definition was removed. */
  get servesAll(): boolean {
    return this.#unserved.size === 0;
  }

  isServed(resource: DiscoveredResource): boolean {
    return !this.#unserved.has(resource);
  }

  stopServing(resource: DiscoveredResource): void {
    this.#unserved.add(resource);
  }

  delete(uid: string, options: DeleteOptions): SimulatedDelete {
    const object = this.get(uid);
    const resource = this.resourceOf(uid);
    if (object === undefined || resource === undefined) return { answer: 'absent' };
    const decision = this.#decide(object, resource, options);
    switch (decision.outcome) {
      case 'refuse':
        return {
          answer: decision.error.code === 409 ? 'conflict' : 'refused',
          message: decision.error.message,
        };
      case 'unchanged':
        return { answer: 'unchanged' };
      case 'remove':
        this.#remove(uid, decision.object);
        return { answer: 'removed' };
      case 'update': {
        const isFirst = !object.metadata?.deletionTimestamp;
        const next = this.#write(uid, decision.object);
        if (isFirst) this.#listener.terminating(uid, next);
        return { answer: 'updated' };
      }
    }
  }

  /** Removes a finalizer. `only` is the version on which the removal rests. */
  removeFinalizer(uid: string, finalizer: string, only?: string): SimulatedWrite {
    return this.#update(uid, only, (metadata) => {
      const finalizers = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
      return { ...metadata, finalizers };
    });
  }

  removeReferences(uid: string, owners: readonly string[], only?: string): SimulatedWrite {
    return this.#update(uid, only, (metadata) => ({
      ...metadata,
      ownerReferences: (metadata.ownerReferences ?? []).filter((reference) => !owners.includes(reference.uid)),
    }));
  }

  /** Replaces all references. */
  replaceReferences(uid: string, references: readonly OwnerReference[], only?: string): SimulatedWrite {
    return this.#update(uid, only, (metadata) => ({ ...metadata, ownerReferences: [...references] }));
  }

  /** Changes a field outside of the metadata: `spec.finalizers` of a namespace, the phase of a volume. */
  change(uid: string, fields: Readonly<Record<string, unknown>>): SimulatedWrite {
    const object = this.get(uid);
    if (object === undefined) return 'absent';
    return this.#finish(uid, object, { ...object, ...fields });
  }

  /** Applies an event to the graph that no write of this server causes. */
  tell(event: GraphEvent): void {
    const effects: Effect[] = [];
    apply(this.graph, event, effects);
    this.#listener.effects(effects);
  }

  #decide(object: KubeObject, resource: DiscoveredResource, options: DeleteOptions): DeleteDecision {
    const info = this.#infoOf(resource);
    const input = { object, options, resource: info, now: this.#now };
    if (isNamespaces(info)) return decideNamespaceDelete(input);
    if (info.group === 'apiextensions.k8s.io' && info.resource === 'customresourcedefinitions') {
      return decideDefinitionDelete(input);
    }
    const grace = graceRuleOf(info);
    return decideDelete(grace === undefined ? input : { ...input, grace });
  }

  #infoOf(resource: DiscoveredResource): ResourceInfo {
    let info = this.#infos.get(resource);
    if (info === undefined) this.#infos.set(resource, (info = deletableInfo(resource)));
    return info;
  }

  #update(uid: string, only: string | undefined, change: (metadata: ObjectMeta) => ObjectMeta): SimulatedWrite {
    const object = this.get(uid);
    if (object === undefined) return 'absent';
    if (only !== undefined && object.metadata?.resourceVersion !== only) return 'conflict';
    return this.#finish(uid, object, { ...object, metadata: change(object.metadata ?? {}) });
  }

  #finish(uid: string, previous: KubeObject, next: KubeObject): SimulatedWrite {
    if (isRemovedByUpdate(previous, next)) this.#remove(uid, next);
    else this.#write(uid, next);
    return 'accepted';
  }

  #write(uid: string, object: KubeObject): KubeObject {
    const resource = this.resourceOf(uid);
    assert(resource !== undefined, 'what is written was listed');
    const resourceVersion = String(++this.#version);
    const next = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#written.set(uid, next);
    const { deleting, ...observed } = liveObjectOf(next.metadata);
    this.tell({
      type: 'observed',
      resource: this.#snapshot.catalogue.monitored(resource),
      object: { ...observed, deleting },
    });
    return next;
  }

  #remove(uid: string, object: KubeObject): void {
    const resource = this.resourceOf(uid);
    assert(resource !== undefined, 'what is removed was listed');
    this.#version++;
    this.#written.delete(uid);
    this.#removed.add(uid);
    // Called before the graph receives the event, so that listeners see the order of the deletions.
    this.#listener.removed(uid, object);
    const { name = '', namespace = '' } = object.metadata ?? {};
    this.tell({ type: 'deleted', resource: this.#snapshot.catalogue.monitored(resource), uid, name, namespace });
  }
}
