import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { DataOrigin, Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** One object whose owner references are repaired. */
export interface RelinkChange {
  /** The object, with the resourceVersion that the repair rests on. */
  readonly ref: ObjectReference;
  readonly before: readonly OwnerReference[];
  readonly after: readonly OwnerReference[];
  /** One sentence for each reference that changes. */
  readonly changes: readonly string[];
}

/** A reference that is stale and cannot be repaired. */
export interface UnresolvedReference {
  readonly ref: ObjectReference;
  readonly reference: OwnerReference;
  readonly message: string;
}

/** Which owner references are repaired (`relink -o json`). */
export interface RelinkPlan extends Document<'RelinkPlan'>, DataOrigin {
  /** Objects whose references change. */
  readonly objects: readonly RelinkChange[];
  /** References that stay stale. */
  readonly unresolved: readonly UnresolvedReference[];
  /** References that are valid already. */
  readonly valid: number;
}
