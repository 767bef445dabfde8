import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Identity, Uid } from '../types/identity.ts';
import type { Target } from './target.ts';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/**
 * DELETE with both preconditions (COL-150). After an `unblockReferences` in the same verdict the object has a new version:
 * `resourceVersion` is then `fromPatch`, the version in the patch's answer, which is used only if the answered references equal
 * `classified` (see `after-unblock.ts`).
 */
export interface DeleteAction {
  readonly action: 'delete';
  readonly target: Target;
  /** The node's recorded identity, for a virtual delete event if the answer proves that the object is gone (COL-093). */
  readonly identity: Identity;
  readonly policy: PropagationPolicy;
  readonly preconditions: { readonly uid: Uid; readonly resourceVersion: string | 'fromPatch' };
  /** The references on which the decision rests. They are compared with those after a preceding `unblockReferences`. */
  readonly classified: readonly OwnerReference[];
  /** `graph` means that nothing was read live (COL-098). */
  readonly basis: 'live' | 'graph';
}

/** Removes the references to these uids: P1, or P2 after 415 (COL-160, COL-161). The precondition is `target.uid`. */
export interface RemoveReferencesAction {
  readonly action: 'removeReferences';
  readonly target: Target;
  /** The node's recorded identity, as in DeleteAction. */
  readonly identity: Identity;
  readonly owners: readonly Uid[];
  /**
   * The known references of the object, which save P2 its GET. If undefined, the object is read first. After a conflict it is read, unless
   * `only` is given.
   */
  readonly known: KnownReferences | undefined;
  /** The patch is valid only for this version; for any other the object is decided again (LIFE-560; row 12 of a living uid). */
  readonly only?: string;
}

/** All references of an object at a version. */
export interface KnownReferences {
  readonly resourceVersion: string;
  readonly references: readonly OwnerReference[];
}

/** Sets `blockOwnerDeletion: false`: P3, or P4 after 415 (COL-162, COL-163). The precondition is `target.uid`. */
export interface UnblockReferencesAction {
  readonly action: 'unblockReferences';
  readonly target: Target;
  /** The blocking references with the flag already turned off, for P3. */
  readonly references: readonly OwnerReference[];
  /**
   * The version at which the references were read. Without it, P3 could bring back a reference that was removed meanwhile, and the
   * following delete would rest on it.
   */
  readonly resourceVersion: string;
  /** All references after the patch, for P4. */
  readonly all: readonly OwnerReference[];
}

/** P5 (COL-164, COL-165). The precondition is `target.uid` (BETTER-17) and a resourceVersion. */
export interface RemoveFinalizerAction {
  readonly action: 'removeFinalizer';
  readonly target: Target;
  readonly finalizer: 'foregroundDeletion' | 'orphan';
  /**
   * The remaining finalizers at this version, which save the GET before the patch. If undefined, the object is read first. After a conflict
   * it is read (COL-153), unless the removal rests on one version (designs/0012).
   */
  readonly known: { readonly resourceVersion: string; readonly otherFinalizers: readonly string[] } | undefined;
  /** The removal is valid only for this version; for any other the object is decided again (COL-101, COL-122). */
  readonly only?: string;
}

/** Puts a virtual delete event for this identity into the queue of graph changes. */
interface EmitVirtualDeleteAction {
  readonly action: 'emitVirtualDelete';
  readonly identity: Identity;
}

/** Adds a proven absence to the absent-owner cache (COL-114, COL-131). */
export interface NoteAbsentOwnerAction {
  readonly action: 'noteAbsentOwner';
  readonly identity: Identity;
}

/**
 * Queues every blocking dependent of the owner that is not deletingDependents itself, and remembers the counts for `blockingWhenQueued`
 * (COL-102). `queue-blocking-dependents.ts` chooses them.
 */
interface EnqueueBlockingDependentsAction {
  readonly action: 'enqueueBlockingDependents';
  readonly owner: Uid;
}

/** Actions are carried out in order. The first failure stops the list, and the item is retried (COL-094). */
export type Action =
  | DeleteAction
  | RemoveReferencesAction
  | UnblockReferencesAction
  | RemoveFinalizerAction
  | EmitVirtualDeleteAction
  | NoteAbsentOwnerAction
  | EnqueueBlockingDependentsAction;
