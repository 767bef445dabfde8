import type { ObjectMeta, OwnerReference } from '../../src/api/meta/object-meta.ts';

interface Node {
  readonly uid: string;
  kind: string;
  name: string;
  namespace: string;
  resourceVersion: string;
  virtual: boolean;
  beingDeleted: boolean;
  owners: readonly OwnerReference[];
  readonly dependents: Set<Node>;
}

/** The graph as one writes it first, and as the collector in Go has it: an object a node, a set of dependents, a map. */
export class NaiveGraph {
  readonly nodes = new Map<string, Node>();
  queued = 0;

  observe(kind: string, metadata: ObjectMeta): void {
    const { uid = '', name = '', namespace = '', resourceVersion = '', ownerReferences = [] } = metadata;
    const beingDeleted = metadata.deletionTimestamp !== undefined;
    let node = this.nodes.get(uid);
    if (node === undefined) {
      node = this.#create(uid, { kind, name, namespace, virtual: false });
    } else if (node.virtual) {
      node.virtual = false;
      node.kind = kind;
      node.name = name;
      node.namespace = namespace;
    }
    node.resourceVersion = resourceVersion;
    node.beingDeleted = beingDeleted;
    const before = node.owners;
    if (sameReferences(before, ownerReferences)) return;
    node.owners = ownerReferences;
    for (const reference of ownerReferences) {
      if (before.some(({ uid: known }) => known === reference.uid)) continue;
      let owner = this.nodes.get(reference.uid);
      if (owner === undefined) {
        owner = this.#create(reference.uid, { kind: reference.kind, name: reference.name, namespace, virtual: true });
        this.queued++;
      }
      owner.dependents.add(node);
    }
    for (const reference of before) {
      if (ownerReferences.some(({ uid: kept }) => kept === reference.uid)) continue;
      this.nodes.get(reference.uid)?.dependents.delete(node);
    }
  }

  remove(uid: string): void {
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    this.nodes.delete(uid);
    for (const reference of node.owners) this.nodes.get(reference.uid)?.dependents.delete(node);
    this.queued += node.dependents.size;
  }

  #create(uid: string, rest: Pick<Node, 'kind' | 'name' | 'namespace' | 'virtual'>): Node {
    const node: Node = {
      uid,
      ...rest,
      resourceVersion: '',
      beingDeleted: false,
      owners: [],
      dependents: new Set(),
    };
    this.nodes.set(uid, node);
    return node;
  }
}

function sameReferences(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return (
    a.length === b.length &&
    a.every((reference, i) => {
      const other = b[i]!;
      return (
        reference.uid === other.uid &&
        reference.name === other.name &&
        reference.kind === other.kind &&
        reference.apiVersion === other.apiVersion &&
        reference.blockOwnerDeletion === other.blockOwnerDeletion &&
        reference.controller === other.controller
      );
    })
  );
}
