import { applied } from '../../src/collector/graph/apply.ts';
import { OwnershipGraph } from '../../src/collector/graph/ownership-graph.ts';
import type { MonitoredResource } from '../../src/collector/types/event.ts';
import { kindOf, nameText, ownerOf, uidText } from './trees.ts';

/** The trees of P12: their Deployments have one root in common. */
export const ROOT = { apiVersion: 'v1', kind: 'ConfigMap', name: 'root', uid: '00000000-0000-4000-8000-000000000000' };

function ownerReference(uids: Uint32Array, object: number, ofKind: RootedResources['ofKind']) {
  const owner = ownerOf(object);
  if (owner < 0) return ROOT;
  const { apiVersion, kind } = ofKind[kindOf(owner)]!;
  return { apiVersion, kind, name: nameText(owner), uid: uidText(uids, owner) };
}

const ownerUid = (uids: Uint32Array, object: number): string => {
  const owner = ownerOf(object);
  return owner < 0 ? ROOT.uid : uidText(uids, owner);
};

export interface RootedResources {
  readonly root: MonitoredResource;
  readonly ofKind: readonly MonitoredResource[];
}

/** The graph of so many objects below the root. The resources are of the root, and by the numbers of `kindOf`. */
export function rootedGraph(
  objects: number,
  uids: Uint32Array,
  { root: rootResource, ofKind }: RootedResources,
): OwnershipGraph {
  const graph = new OwnershipGraph({ absentOwners: { size: 0 } });
  const common = { namespace: 'default', resourceVersion: '1', deleting: false, finalizers: [] };
  const root = { ...common, uid: ROOT.uid, name: ROOT.name, ownerReferences: [] };
  applied(graph, { type: 'observed', resource: rootResource, object: root });
  for (let n = objects - 1; n >= 0; n--) {
    const object = {
      ...common,
      uid: uidText(uids, n),
      name: nameText(n),
      ownerReferences: [ownerReference(uids, n, ofKind)],
    };
    applied(graph, { type: 'observed', resource: ofKind[kindOf(n)]!, object });
  }
  return graph;
}

interface NaiveNode {
  readonly uid: string;
  readonly owners: readonly string[];
  readonly dependents: Set<NaiveNode>;
}

/** The same objects as Map and Set hold them. */
export function naiveNodes(objects: number, uids: Uint32Array): Map<string, NaiveNode> {
  const nodes = new Map<string, NaiveNode>();
  const add = (uid: string, owners: readonly string[]): void => {
    const node: NaiveNode = { uid, owners, dependents: new Set() };
    nodes.set(uid, node);
    for (const owner of owners) nodes.get(owner)?.dependents.add(node);
  };
  add(ROOT.uid, []);
  for (let n = objects - 1; n >= 0; n--) add(uidText(uids, n), [ownerUid(uids, n)]);
  return nodes;
}

/** Which objects go with one: a recursive walk. */
export function naiveCascade(nodes: ReadonlyMap<string, NaiveNode>, root: string): Set<string> {
  const going = new Set<string>();
  const visit = (node: NaiveNode): void => {
    going.add(node.uid);
    for (const dependent of node.dependents) {
      if (!going.has(dependent.uid) && dependent.owners.every((uid) => going.has(uid) || !nodes.has(uid)))
        visit(dependent);
    }
  };
  visit(nodes.get(root)!);
  return going;
}

/** Milliseconds of processor time of this process. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
