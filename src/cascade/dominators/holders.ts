import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** The role of a reference in the life of its object. */
export type Holder =
  /** The object with this id: the dependent stays while it exists. */
  | { readonly holds: 'object'; readonly id: NodeId }
  /** The object stays for ever: nothing about the owner can be proved, or the owner is deleted with policy Orphan. */
  | { readonly holds: 'ever' }
  /** The owner does not exist, so it holds nothing. */
  | { readonly holds: 'never' };

const EVER: Holder = { holds: 'ever' };
const NEVER: Holder = { holds: 'never' };

/** The collector's view of a reference of an object in this namespace: `classifyOwner` with every answer known. */
export function holderOf(snapshot: Snapshot, namespace: string, reference: OwnerReference): Holder {
  const { graph, catalogue } = snapshot;
  const mapping = catalogue.mapping(reference.apiVersion, reference.kind);
  if (mapping === undefined) return EVER;
  if (mapping.namespaced && namespace === '') return EVER;
  const id = graph.find(reference.uid);
  const served = catalogue.ofGroup(parseGroupVersion(mapping.apiVersion)?.group ?? '', mapping.resource);
  if (id < 0 || !graph.isObserved(id)) {
    return served !== undefined && !snapshot.isIncomplete(served) ? NEVER : EVER;
  }
  const owner = graph.identityAt(id);
  const isMeant =
    owner.name === reference.name &&
    graph.resourceAt(id) === mapping.resource &&
    snapshot.resourceOf(id) === served &&
    owner.namespace === (mapping.namespaced ? namespace : '');
  if (!isMeant) return NEVER;
  return snapshot.hasOrphanFinalizer(reference.uid) ? EVER : { holds: 'object', id };
}
