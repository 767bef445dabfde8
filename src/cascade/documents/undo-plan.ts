import type { Document } from './document.ts';
import type { ObjectReference } from './object-reference.ts';

/** `rebuild` leaves out objects that a controller creates again; `restore` creates them too. */
export type ManagedPolicy = 'rebuild' | 'restore';
/** `fail` creates nothing if a name is taken; `skip` uses the existing object in place of the recorded one. */
export type ConflictPolicy = 'skip' | 'fail';

/**
 * `create`: the object is created. `present`: it is there already. `leave`: it is left out on purpose.
 * `conflict`: its name is taken by another object. `impossible`: it cannot be restored.
 */
export type UndoAction = 'create' | 'present' | 'leave' | 'conflict' | 'impossible';

/** The reasons, in one catalogue; docs/rules and messages use the same. */
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
  /** The number of its wave. It is created after all lower waves. Absent unless the action is `create`. */
  readonly wave?: number;
  /** The losses and changes of the restored object, one sentence each. */
  readonly notes?: readonly string[];
}

/** The steps of an undo, as plain data; `-o json` prints it unchanged. */
export interface UndoPlan extends Document<'UndoPlan'> {
  /** The name of the record. */
  readonly id: string;
  /** The treatment of objects that a controller makes again. */
  readonly managed: ManagedPolicy;
  /** The treatment of names that are taken. */
  readonly onConflict: ConflictPolicy;
  /** In the order of the record. */
  readonly objects: readonly UndoObject[];
  /** Objects by action. */
  readonly summary: Readonly<Record<UndoAction, number>>;
}
