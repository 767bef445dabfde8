import type { Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** The result for one recorded object. */
export type UndoOutcome = 'created' | 'present' | 'left' | 'conflict' | 'failed';

export interface UndoneObject {
  /** As it was recorded. */
  readonly ref: ObjectReference;
  readonly outcome: UndoOutcome;
  /** The uid now; absent when nothing is there for it. */
  readonly uid?: string;
  /** Why, when it is not simply created or present. */
  readonly message?: string;
  readonly notes?: readonly string[];
}

/** The end of an undo; plain data, printed as it is by `-o json`. */
export interface UndoResult extends Document<'UndoResult'> {
  /** The name of the record. */
  readonly id: string;
  readonly objects: readonly UndoneObject[];
  readonly summary: Readonly<Record<UndoOutcome, number>>;
  /** Owner references of restored objects, read back at the end. */
  readonly ownerEdges: { readonly total: number; readonly valid: number; readonly broken: readonly string[] };
}
