import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { GraphDocument, GraphDocumentEdge, GraphDocumentNode, NodeMark } from '../documents/graph-document.ts';
import type { Dies } from '../dominators/dies.ts';
import { holderOf } from '../dominators/holders.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** The objects and the references among them, as a document (CAS-021). Missing owners are nodes with the mark `missing`. */
export function graphDocument(snapshot: Snapshot, ids: Iterable<NodeId>, dies?: Dies): GraphDocument {
  const { graph } = snapshot;
  const nodes = new Map<string, GraphDocumentNode>();
  const edges: GraphDocumentEdge[] = [];
  for (const id of ids) if (graph.isObserved(id)) nodes.set(graph.uidAt(id), nodeOf(snapshot, id, dies));
  // Missing owners are added during the loop, and have no references.
  const shown = Array.from(nodes.keys());
  for (const from of shown) {
    const id = graph.find(from);
    for (const reference of graph.ownerReferencesAt(id)) {
      const { uid: to, apiVersion, kind, name, controller, blockOwnerDeletion } = reference;
      const broken = brokenOf(snapshot, id, reference);
      if (!nodes.has(to)) {
        const owner = graph.find(to);
        // The owner exists but is not among the shown objects.
        if (owner >= 0 && graph.isObserved(owner)) continue;
        nodes.set(to, { ref: { apiVersion, kind, resource: '', name, uid: to }, marks: ['missing'] });
      }
      edges.push({
        from,
        to,
        ...(controller === true ? { controller } : {}),
        ...(blockOwnerDeletion === true ? { blockOwnerDeletion } : {}),
        ...(broken === undefined ? {} : { broken }),
      });
    }
  }
  return { apiVersion: DOCUMENT_API_VERSION, kind: 'Graph', ...snapshot.origin, nodes: [...nodes.values()], edges };
}

function nodeOf(snapshot: Snapshot, id: NodeId, dies: Dies | undefined): GraphDocumentNode {
  const { graph } = snapshot;
  const created = snapshot.createdAt(id);
  const { otherFinalizers, foregroundFinalizer, orphanFinalizer, beingDeleted, identity } = graph.at(id);
  const hasFinalizers = otherFinalizers || foregroundFinalizer || orphanFinalizer;
  const finalizers = hasFinalizers ? (snapshot.metadataOf(id).finalizers ?? []) : [];
  const references = graph.ownerReferencesAt(id).map((reference) => brokenOf(snapshot, id, reference));
  const marks: NodeMark[] = [
    ...(beingDeleted ? (['terminating'] as const) : []),
    ...(finalizers.some((name) => name !== FINALIZER_FOREGROUND && name !== FINALIZER_ORPHAN)
      ? (['finalizers'] as const)
      : []),
    ...(references.includes('missing') ? (['missingOwner'] as const) : []),
    ...(references.some((broken) => broken !== undefined && broken !== 'missing')
      ? (['invalidReference'] as const)
      : []),
  ];
  return {
    ref: snapshot.referenceOf(id),
    ...(marks.length === 0 ? {} : { marks }),
    ...(created === undefined ? {} : { created }),
    ...(finalizers.length === 0 ? {} : { finalizers }),
    ...(dies === undefined ? {} : { dies: dies.of(identity.uid) }),
  };
}

function brokenOf(
  snapshot: Snapshot,
  id: NodeId,
  reference: Parameters<typeof holderOf>[2],
): GraphDocumentEdge['broken'] {
  const { graph, catalogue } = snapshot;
  const mapping = catalogue.mapping(reference.apiVersion, reference.kind);
  if (mapping === undefined) return 'unservedKind';
  const { namespace } = graph.identityAt(id);
  if (mapping.namespaced && namespace === '') return 'namespacedOwner';
  const owner = graph.find(reference.uid);
  if (owner < 0 || !graph.isObserved(owner)) return 'missing';
  if (holderOf(snapshot, id, reference).holds !== 'never') return undefined;
  const place = graph.identityAt(owner).namespace;
  return place !== '' && place !== namespace ? 'otherNamespace' : 'otherIdentity';
}
