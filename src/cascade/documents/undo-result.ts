import type { Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** The result for one recorded object. */
export type UndoOutcome = 'created' | 'present' | 'left' | 'conflict' | 'failed';

export interface UndoneObject {
  /** The object as recorded. */
  readonly ref: ObjectReference;
  readonly outcome: UndoOutcome;
  /** The current uid; absent if no object exists for it. */
  readonly uid?: string;
  /** The reason, unless it was simply created or present. */
  readonly message?: string;
  readonly notes?: readonly string[];
}

/** The result of an undo, as plain data; `-o json` prints it unchanged. */
export interface UndoResult extends Document<'UndoResult'> {
  /** The name of the record. */
  readonly id: string;
  /** In the order of the record. */
  readonly objects: readonly UndoneObject[];
  /** Objects by outcome. */
  readonly summary: Readonly<Record<UndoOutcome, number>>;
  /** Owner references of restored objects, read again at the end. */
  readonly ownerEdges: { readonly total: number; readonly valid: number; readonly broken: readonly string[] };
  /** Faults that concern no object, such as a record that cannot be written. Absent if there are none. */
  readonly warnings?: readonly string[];
}
