import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import type { MonitoredResource, ObservedObject } from '../../types/event.ts';
import type { PropagationPolicy } from '../actions.ts';
import { liveObjectOf, type LiveObject } from '../live-object.ts';
import type { KindMapping, Target } from '../target.ts';

/** A resource of the small server, in every version it is served in; the first is the one that is watched. */
export interface ServedResource {
  readonly resource: string;
  readonly kind: string;
  readonly apiVersions: readonly string[];
  readonly namespaced: boolean;
}

export interface ServerObject {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly references: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly deleting: boolean;
}

/** An event of a watch: the object as it was then, and whether it was deleted. */
interface Change {
  readonly object: ServerObject;
  readonly gone: boolean;
}

interface Preconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

const FG = 'foregroundDeletion';
const ORPHAN = 'orphan';

/**
 * The part of an API server that the collector's decisions depend on: get by name in any served
 * version, delete with a policy and preconditions, patches of references and finalizers. A value: each write gives a new one.
 */
export class SmallServer {
  readonly served: readonly ServedResource[];
  readonly objects: ReadonlyMap<string, ServerObject>;
  /** Changes that no watch has shown yet, oldest first. */
  readonly changes: readonly Change[];
  readonly version: number;

  constructor(
    served: readonly ServedResource[],
    state: Pick<SmallServer, 'objects' | 'changes' | 'version'> = { objects: new Map(), changes: [], version: 1 },
  ) {
    this.served = served;
    this.objects = state.objects;
    this.changes = state.changes;
    this.version = state.version;
  }

  with(object: Omit<ServerObject, 'version'>): SmallServer {
    return this.#write({ ...object, version: this.version + 1 }, false);
  }

  mapping(apiVersion: string, kind: string): KindMapping | undefined {
    const found = this.served.find((served) => served.kind === kind && served.apiVersions.includes(apiVersion));
    return found && { apiVersion, resource: found.resource, namespaced: found.namespaced };
  }

  monitored(resource: string): MonitoredResource {
    const { kind, apiVersions } = this.served.find((served) => served.resource === resource)!;
    return { apiVersion: apiVersions[0]!, kind, resource };
  }

  at({ resource, namespace, name }: Pick<Target, 'resource' | 'namespace' | 'name'>): ServerObject | undefined {
    for (const object of this.objects.values()) {
      if (object.resource === resource && object.namespace === namespace && object.name === name) return object;
    }
    return undefined;
  }

  read(target: Target): LiveObject | undefined {
    const object = this.at(target);
    return object && liveOf(object);
  }

  /** The object as a watch or list shows it. */
  static observed({ uid, name, namespace, version, references, deleting, finalizers }: ServerObject): ObservedObject {
    return {
      uid,
      name,
      namespace,
      resourceVersion: String(version),
      ownerReferences: references,
      deleting,
      finalizers,
    };
  }

  /** Shows the oldest change of this uid. */
  show(uid: string): SmallServer {
    const first = this.changes.findIndex(({ object }) => object.uid === uid);
    return this.#set({ changes: this.changes.toSpliced(first, 1) });
  }

  delete(target: Target, policy: PropagationPolicy, preconditions: Preconditions): Written {
    const object = this.at(target);
    if (object === undefined) return { server: this, answer: 'absent' };
    const { uid, resourceVersion } = preconditions;
    if (object.uid !== uid) return { server: this, answer: 'conflict' };
    if (resourceVersion !== undefined && resourceVersion !== String(object.version)) {
      return { server: this, answer: 'conflict' };
    }
    const others = object.finalizers.filter((name) => name !== FG && name !== ORPHAN);
    const own = policy === 'Foreground' ? [FG] : policy === 'Orphan' ? [ORPHAN] : [];
    const finalizers = [...others, ...own];
    const same = object.deleting && finalizers.join() === object.finalizers.join();
    const server = same ? this : this.#change(object, { finalizers, deleting: true });
    return { server, answer: 'accepted' };
  }

  removeReferences(target: Target, owners: readonly string[]): Written {
    return this.#patch(target, ({ references }) => ({
      references: references.filter(({ uid }) => !owners.includes(uid)),
    }));
  }

  unblock(target: Target): Written {
    return this.#patch(target, ({ references }) => ({
      references: references.map((reference) =>
        reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference,
      ),
    }));
  }

  removeFinalizer(target: Target, finalizer: string): Written {
    return this.#patch(target, ({ finalizers }) => ({ finalizers: finalizers.filter((name) => name !== finalizer) }));
  }

  /** Another client changes the object's references. */
  edit(uid: string, references: readonly OwnerReference[]): SmallServer {
    const object = this.objects.get(uid);
    return object === undefined ? this : this.#change(object, { references });
  }

  #patch(target: Target, change: (object: ServerObject) => Partial<ServerObject>): Written {
    const object = this.at(target);
    if (object === undefined || object.uid !== target.uid) return { server: this, answer: 'absent' };
    const next = { ...object, ...change(object) };
    const same =
      next.references.length === object.references.length &&
      next.references.every((reference, i) => reference === object.references[i]) &&
      next.finalizers.length === object.finalizers.length;
    const server = same ? this : this.#change(object, next);
    return { server, answer: 'accepted', object: server.read(target) };
  }

  #change(object: ServerObject, change: Partial<ServerObject>): SmallServer {
    const next = { ...object, ...change, version: this.version + 1 };
    return this.#write(next, next.deleting && next.finalizers.length === 0);
  }

  #write(object: ServerObject, gone: boolean): SmallServer {
    const objects = new Map(this.objects);
    if (gone) objects.delete(object.uid);
    else objects.set(object.uid, object);
    return this.#set({ objects, changes: [...this.changes, { object, gone }], version: object.version });
  }

  #set(change: Partial<Pick<SmallServer, 'objects' | 'changes' | 'version'>>): SmallServer {
    const { objects, changes, version } = this;
    return new SmallServer(this.served, { objects, changes, version, ...change });
  }
}

interface Written {
  readonly server: SmallServer;
  readonly answer: 'accepted' | 'absent' | 'conflict';
  readonly object?: LiveObject | undefined;
}

function liveOf({ uid, name, namespace, version, references, finalizers, deleting }: ServerObject): LiveObject {
  return liveObjectOf({
    uid,
    name,
    namespace,
    resourceVersion: String(version),
    ownerReferences: [...references],
    finalizers: [...finalizers],
    ...(deleting ? { deletionTimestamp: '2026-11-21T12:00:00Z' } : {}),
  });
}
