import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type OwnerReference } from '../../api/meta/object-meta.ts';
import type { GraphNode, NodeId } from '../../collector/graph/graph.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { GraphDocument, GraphDocumentEdge, GraphDocumentNode, NodeMark } from '../documents/graph-document.ts';
import type { Dies } from '../dominators/dies.ts';
import { holderOf } from '../dominators/holders.ts';
import { ReferenceAnswers } from '../dominators/reference-answers.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** The defect of each reference, if it has one. */
type Defects = ReferenceAnswers<GraphDocumentEdge['broken']>;

/** The objects and the references among them, as a document (CAS-021). Missing owners are nodes with the mark `missing`. */
export function graphDocument(snapshot: Snapshot, ids: Iterable<NodeId>, dies?: Dies): GraphDocument {
  const { graph } = snapshot;
  const nodes = new Map<string, GraphDocumentNode>();
  const edges: GraphDocumentEdge[] = [];
  const defects: Defects = new ReferenceAnswers((namespace, reference) => brokenOf(snapshot, namespace, reference));
  const shown: GraphNode[] = [];
  for (const id of ids) {
    if (!graph.isObserved(id)) continue;
    const node = graph.at(id);
    nodes.set(node.identity.uid, nodeOf(snapshot, node, defects, dies));
    shown.push(node);
  }
  for (const { identity, ownerReferences } of shown) {
    const { uid: from, namespace } = identity;
    for (const reference of ownerReferences) {
      const { uid: to, apiVersion, kind, name, controller, blockOwnerDeletion } = reference;
      const broken = defects.of(namespace, reference);
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

function nodeOf(snapshot: Snapshot, node: GraphNode, defects: Defects, dies: Dies | undefined): GraphDocumentNode {
  const { id, otherFinalizers, foregroundFinalizer, orphanFinalizer, beingDeleted, identity } = node;
  const created = snapshot.createdAt(id);
  const hasFinalizers = otherFinalizers || foregroundFinalizer || orphanFinalizer;
  const finalizers = hasFinalizers ? (snapshot.metadataOf(id).finalizers ?? []) : [];
  const references = node.ownerReferences.map((reference) => defects.of(identity.namespace, reference));
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
    ref: snapshot.referenceOf(id, identity),
    ...(marks.length === 0 ? {} : { marks }),
    ...(created === undefined ? {} : { created }),
    ...(finalizers.length === 0 ? {} : { finalizers }),
    ...(dies === undefined ? {} : { dies: dies.of(identity.uid, id) }),
  };
}

function brokenOf(snapshot: Snapshot, namespace: string, reference: OwnerReference): GraphDocumentEdge['broken'] {
  const { graph, catalogue } = snapshot;
  const mapping = catalogue.mapping(reference.apiVersion, reference.kind);
  if (mapping === undefined) return 'unservedKind';
  if (mapping.namespaced && namespace === '') return 'namespacedOwner';
  const owner = graph.find(reference.uid);
  if (owner < 0 || !graph.isObserved(owner)) return 'missing';
  if (holderOf(snapshot, namespace, reference).holds !== 'never') return undefined;
  const place = graph.namespaceAt(owner);
  return place !== '' && place !== namespace ? 'otherNamespace' : 'otherIdentity';
}
