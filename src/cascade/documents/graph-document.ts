import type { DataOrigin, Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** The summary of an object (CAS-020). */
export type NodeMark = 'terminating' | 'finalizers' | 'missing' | 'missingOwner' | 'invalidReference' | 'cycle';

export interface GraphDocumentNode {
  readonly ref: ObjectReference;
  readonly marks?: readonly NodeMark[];
  /** RFC 3339. */
  readonly created?: string;
  readonly finalizers?: readonly string[];
  /** Number of objects that background deletion of this one alone would remove, including itself (CAS-025). */
  readonly dies?: number;
}

export interface GraphDocumentEdge {
  /** uid of the dependent. */
  readonly from: string;
  /** uid of the owner. */
  readonly to: string;
  readonly controller?: true;
  readonly blockOwnerDeletion?: true;
  /** The reference does not lead to the object that it names. */
  readonly broken?: 'missing' | 'otherIdentity' | 'otherNamespace' | 'namespacedOwner' | 'unservedKind';
}

/** Objects and their references (`tree -o json`, `graph -o json`, CAS-094). */
export interface GraphDocument extends Document<'Graph'>, DataOrigin {
  /** Objects, and missing owners that references name. */
  readonly nodes: readonly GraphDocumentNode[];
  /** Owner references. */
  readonly edges: readonly GraphDocumentEdge[];
}
