import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type OwnerReference } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { GraphDocument, GraphDocumentEdge, GraphDocumentNode, NodeMark } from '../documents/graph-document.ts';
import type { Dies } from '../dominators/dies.ts';
import { holderOf } from '../dominators/holders.ts';
import { ReferenceAnswers } from '../dominators/reference-answers.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Broken = GraphDocumentEdge['broken'];

/** The objects and the references among them, as a document (CAS-021). Missing owners are nodes with the mark `missing`. */
export function graphDocument(snapshot: Snapshot, ids: Iterable<NodeId>, dies?: Dies): GraphDocument {
  const { graph } = snapshot;
  const defects = new ReferenceAnswers<Broken>(graph, (namespace, reference) =>
    brokenOf(snapshot, namespace, reference),
  );
  const uids = new Map<NodeId, string>();
  for (const id of ids) if (graph.isObserved(id)) uids.set(id, graph.uidAt(id));
  const nodes: GraphDocumentNode[] = [];
  const missing = new Map<string, GraphDocumentNode>();
  const edges: GraphDocumentEdge[] = [];
  for (const [id, from] of uids) {
    const namespace = graph.namespaceAt(id);
    let hasMissingOwner = false;
    let hasInvalidReference = false;
    graph.forEachReference(id, (reference, owner) => {
      const broken = defects.of(namespace, reference, owner);
      hasMissingOwner ||= broken === 'missing';
      hasInvalidReference ||= broken !== undefined && broken !== 'missing';
      let to = uids.get(owner);
      if (to === undefined) {
        // The owner exists but is not among the shown objects.
        if (owner >= 0 && graph.isObserved(owner)) return;
        const { uid, apiVersion, kind, name } = graph.referenceAt(reference);
        to = uid;
        if (!missing.has(uid))
          missing.set(uid, { ref: { apiVersion, kind, resource: '', name, uid }, marks: ['missing'] });
      }
      const edge: Mutable<GraphDocumentEdge> = { from, to };
      if (graph.isControllerAt(reference)) edge.controller = true;
      if (graph.isBlockingAt(reference)) edge.blockOwnerDeletion = true;
      if (broken !== undefined) edge.broken = broken;
      edges.push(edge);
    });
    nodes.push(nodeOf(snapshot, id, { uid: from, hasMissingOwner, hasInvalidReference, dies }));
  }
  for (const node of missing.values()) nodes.push(node);
  return { apiVersion: DOCUMENT_API_VERSION, kind: 'Graph', ...snapshot.origin, nodes, edges };
}

interface NodeFacts {
  readonly uid: string;
  readonly hasMissingOwner: boolean;
  readonly hasInvalidReference: boolean;
  readonly dies: Dies | undefined;
}

function nodeOf(snapshot: Snapshot, id: NodeId, facts: NodeFacts): GraphDocumentNode {
  const { uid, hasMissingOwner, hasInvalidReference, dies } = facts;
  const { graph } = snapshot;
  const { apiVersion, kind } = graph.typeAt(id);
  const identity = { apiVersion, kind, namespace: graph.namespaceAt(id), name: graph.nameAt(id), uid };
  const node: Mutable<GraphDocumentNode> = { ref: snapshot.referenceOf(id, identity) };
  const finalizers = graph.isPlain(id) ? [] : (snapshot.metadataOf(id).finalizers ?? []);
  const marks: NodeMark[] = [];
  if (graph.isBeingDeleted(id)) marks.push('terminating');
  if (finalizers.some((name) => name !== FINALIZER_FOREGROUND && name !== FINALIZER_ORPHAN)) marks.push('finalizers');
  if (hasMissingOwner) marks.push('missingOwner');
  if (hasInvalidReference) marks.push('invalidReference');
  if (marks.length > 0) node.marks = marks;
  const created = snapshot.createdAt(id);
  if (created !== undefined) node.created = created;
  if (finalizers.length > 0) node.finalizers = finalizers;
  if (dies !== undefined) node.dies = dies.of(uid, id);
  return node;
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
