import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { FINALIZER_ORPHAN, type KubeObject, type ObjectMeta } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { Identity } from '../../collector/types/identity.ts';
import type { DataOrigin, DataSource, IncompleteResource } from '../documents/document.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { decodeKeptMetadata } from './kept-metadata.ts';
import { type ResourceCatalogue, resourceName } from './resource-catalogue.ts';

export interface SnapshotOptions {
  readonly graph: OwnershipGraph;
  readonly catalogue: ResourceCatalogue;
  /** List items by uid, for objects with facts that the graph does not hold. */
  readonly kept: ReadonlyMap<string, Uint8Array>;
  /** Creation times by node, in seconds since the epoch; empty unless requested. */
  readonly created: ArrayLike<number>;
  /** Milliseconds since the epoch at which reading began. */
  readonly readAt: number;
  readonly source: DataSource;
  readonly incomplete: readonly IncompleteResource[];
  /** Names of resources in `incomplete` that were read in the requested namespaces only. */
  readonly readInNamespaces?: ReadonlySet<string>;
  readonly protectedUids?: readonly string[];
}

/** The apiVersion and kind of an object. */
interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Every deletable object of a cluster as it was read: owners and flags are in the collector's graph, the rest of the metadata is kept only
 * for the few objects that need it. Immutable: each simulation works on a copy or branch of the graph.
 */
export class Snapshot {
  readonly graph: OwnershipGraph;
  readonly catalogue: ResourceCatalogue;
  readonly readAt: number;
  readonly #incomplete: IncompleteResource[];
  readonly #unlisted: ReadonlySet<string>;
  readonly #kept: ReadonlyMap<string, Uint8Array>;
  readonly #created: ArrayLike<number>;
  readonly #protectedUids: readonly string[];
  readonly #source: DataSource;
  /** Full objects that were read later for a rule. */
  readonly #bodies = new Map<string, KubeObject>();
  readonly #lists = new Map<string, readonly KubeObject[]>();
  /** By their numbers in the graph, which makes new texts for each answer. */
  readonly #types = new Map<number, ObjectType>();

  constructor(options: SnapshotOptions) {
    const { graph, catalogue, kept, created, readAt, source, incomplete, readInNamespaces = new Set() } = options;
    this.graph = graph;
    this.catalogue = catalogue;
    this.readAt = readAt;
    this.#incomplete = [...incomplete];
    this.#unlisted = new Set(
      incomplete.map(({ resource }) => resource).filter((resource) => !readInNamespaces.has(resource)),
    );
    this.#kept = kept;
    this.#created = created;
    this.#source = source;
    this.#protectedUids = options.protectedUids ?? [];
  }

  /** The resources that could not be read. */
  get incomplete(): readonly IncompleteResource[] {
    return this.#incomplete;
  }

  /** Notes that full objects of a resource could not be read, although its metadata could. */
  noteIncomplete(resource: IncompleteResource): void {
    if (!this.#incomplete.some((each) => each.resource === resource.resource)) this.#incomplete.push(resource);
  }

  /** The origin of the data, for every document. */
  get origin(): DataOrigin {
    const { incomplete } = this;
    const origin = { readAt: formatTime(this.readAt), source: this.#source };
    return incomplete.length === 0 ? origin : { ...origin, incomplete };
  }

  /** The resource in which an observed node was listed. */
  resourceOf(id: NodeId): DiscoveredResource | undefined {
    return this.catalogue.ofNode(this.graph, id);
  }

  /** The apiVersion and kind of a node; one value for all nodes of a kind. */
  typeAt(id: NodeId): ObjectType {
    const kind = this.graph.kindAt(id);
    let type = this.#types.get(kind);
    if (type === undefined) this.#types.set(kind, (type = this.graph.kindOf(kind)));
    return type;
  }

  /**
   * The reference of an observed node for documents.
   * @param identity the node's, if it is known already
   */
  referenceOf(id: NodeId, identity?: Identity): ObjectReference {
    const { graph } = this;
    const { apiVersion, kind } = this.typeAt(id);
    const namespace = graph.namespaceAt(id);
    const name = identity?.name ?? graph.nameAt(id);
    const uid = identity?.uid ?? graph.uidAt(id);
    const resourceVersion = graph.resourceVersionAt(id);
    const resource = graph.resourceAt(id) ?? '';
    // There may be a million of these: literals without a spread are made several times as fast.
    if (resourceVersion === undefined)
      return namespace === ''
        ? { apiVersion, kind, resource, name, uid }
        : { apiVersion, kind, resource, namespace, name, uid };
    return namespace === ''
      ? { apiVersion, kind, resource, name, uid, resourceVersion }
      : { apiVersion, kind, resource, namespace, name, uid, resourceVersion };
  }

  /** The metadata of a listed object: complete if it was kept, otherwise from the graph. */
  metadataOf(id: NodeId, uid: string = this.graph.uidAt(id)): ObjectMeta {
    const { graph } = this;
    const kept = this.keptMetadata(uid);
    if (kept !== undefined) return kept;
    const namespace = graph.namespaceAt(id);
    const resourceVersion = graph.resourceVersionAt(id);
    const metadata: ObjectMeta = { name: graph.nameAt(id) };
    if (namespace !== '') metadata.namespace = namespace;
    metadata.uid = uid;
    if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
    const ownerReferences = graph.ownerReferencesAt(id);
    if (ownerReferences.length > 0) metadata.ownerReferences = ownerReferences;
    return metadata;
  }

  /** The complete metadata of an object that has more of it than the graph holds; undefined for any other. */
  keptMetadata(uid: string): ObjectMeta | undefined {
    const kept = this.#kept.size === 0 ? undefined : this.#kept.get(uid);
    return kept === undefined ? undefined : decodeKeptMetadata(kept);
  }

  /** uids of objects with an annotation of the guard; empty unless `detail` was `protections`. */
  get protectedUids(): readonly string[] {
    return this.#protectedUids;
  }

  /** True if a resource could not be listed completely. */
  isIncomplete(resource: DiscoveredResource): boolean {
    return this.#unlisted.has(resourceName(resource));
  }

  /** True if a delete without a policy would orphan its dependents, because of its finalizer. */
  hasOrphanFinalizer(uid: string): boolean {
    const kept = this.#kept.get(uid);
    return kept !== undefined && decodeKeptMetadata(kept).finalizers?.includes(FINALIZER_ORPHAN) === true;
  }

  /** uids of one kind's objects that were terminating when they were read. */
  *terminating(apiVersion: string, kind: string): Iterable<string> {
    for (const uid of this.#kept.keys()) {
      const id = this.graph.find(uid);
      if (id < 0 || !this.graph.isBeingDeleted(id)) continue;
      const identity = this.graph.identityAt(id);
      if (identity.kind === kind && identity.apiVersion === apiVersion) yield uid;
    }
  }

  /** RFC 3339; undefined if ages were not read. */
  createdAt(id: NodeId): string | undefined {
    const seconds = this.#created[id] ?? 0;
    return seconds === 0 ? undefined : formatTime(seconds * 1000);
  }

  /** A full object, if it was read for a rule. */
  body(uid: string): KubeObject | undefined {
    return this.#bodies.get(uid);
  }

  /** Full objects of one list, by the key of the need; undefined if it was not read. */
  bodiesOf(key: string): readonly KubeObject[] | undefined {
    return this.#lists.get(key);
  }

  /** Keys of all lists of full objects that were read. */
  get bodyKeys(): ReadonlySet<string> {
    return new Set(this.#lists.keys());
  }

  addBodies(key: string, bodies: readonly KubeObject[]): void {
    this.#lists.set(key, bodies);
    for (const body of bodies) this.#bodies.set(body.metadata?.uid ?? '', body);
  }

  /** The observed object of this resource, namespace (empty for cluster-scoped) and name. O(objects). */
  find(resource: DiscoveredResource, namespace: string, name: string): NodeId | undefined {
    const { graph } = this;
    const apiVersion = apiVersionOf(resource);
    let found: NodeId | undefined;
    graph.forEachNode((id) => {
      if (found !== undefined || !graph.isObserved(id) || graph.resourceAt(id) !== resource.resource) return;
      if (graph.typeAt(id).apiVersion !== apiVersion || graph.namespaceAt(id) !== namespace) return;
      if (graph.nameAt(id) === name) found = id;
    });
    return found;
  }
}
