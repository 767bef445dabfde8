import type { Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** `rebuild` leaves out what a controller makes again; `restore` creates that too. */
export type ManagedPolicy = 'rebuild' | 'restore';
/** `fail` creates nothing when a name is taken; `skip` lets the object that is there stand in for the recorded one. */
export type ConflictPolicy = 'skip' | 'fail';

/**
 * `create`: the object is created. `present`: it is there already. `leave`: it is left out on purpose.
 * `conflict`: its name is taken by another object. `impossible`: it cannot be restored.
 */
export type UndoAction = 'create' | 'present' | 'leave' | 'conflict' | 'impossible';

/** Why, out of one catalogue; docs/rules and messages say the same. */
export const undoReasons = {
  recorded: 'it is in the record and not in the cluster',
  neverDeleted: 'it was not deleted',
  alreadyRestored: 'an earlier undo restored it',
  rebuilt: 'its controller made it again',
  rebuiltByController: 'its controller makes it again',
  replaced: 'another object has its name now',
  stillTerminating: 'it is still being deleted',
  finishedJob: 'the Job had finished; created again it would run again',
  pastEvent: 'Events describe the past, and are not restored',
  mirrorPod: 'the kubelet makes it again from its manifest',
  dataNotRecorded: 'the data of this Secret were not recorded',
  kindNotServed: 'the cluster does not serve its kind, and the record has no definition of it',
  invalidRecord: 'the recorded object has no kind, name or uid',
} as const;

export type UndoReason = keyof typeof undoReasons;

export interface UndoObject {
  readonly ref: ObjectReference;
  readonly action: UndoAction;
  readonly reason: UndoReason;
  readonly message: string;
  /** Created with the others of its wave, after those of all lower ones. Absent unless the action is `create`. */
  readonly wave?: number;
  /** The losses and changes of the restored object, one sentence each. */
  readonly notes?: readonly string[];
}

/** The steps of an undo; plain data, printed as it is by `-o json`. */
export interface UndoPlan extends Document<'UndoPlan'> {
  /** The name of the record. */
  readonly id: string;
  readonly managed: ManagedPolicy;
  readonly onConflict: ConflictPolicy;
  /** In the order of the record. */
  readonly objects: readonly UndoObject[];
  readonly summary: Readonly<Record<UndoAction, number>>;
}
