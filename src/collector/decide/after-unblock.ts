import type { DeleteAction } from './actions.ts';
import { sameReferences, type LiveObject } from './live-object.ts';
import type { Verdict } from './step.ts';
import type { VersionedAnswerKind } from './write-answer-kind.ts';

/** The delete that follows a successful `unblockReferences`, now with a version of its own. */
export interface DeletePatched {
  readonly next: 'delete';
  readonly action: DeleteAction;
}

/**
 * Row 13: the delete may rest on the object as patched only if nothing but what the patch meant to change is different from what was
 * decided upon. Whoever deletes it by now may have asked it to wait for the orphaning of its dependents: our policy, decided before,
 * would undo that. `patched`: the object in the answer, undefined when the answer had none.
 */
export function afterUnblock(action: DeleteAction, patched: LiveObject | undefined): DeletePatched | Verdict {
  const { uid } = action.preconditions;
  const unchanged =
    patched?.uid === uid && !patched.deleting && sameReferences(patched.ownerReferences, action.classified);
  if (!unchanged) {
    return { verdict: 'requeue', reason: 'patchedObjectChanged', actions: [] };
  }
  const { resourceVersion } = patched;
  return { next: 'delete', action: { ...action, preconditions: { uid, resourceVersion } } };
}

/** P3 or P4 did not happen: whatever was to follow is decided anew (COL-094). */
export function afterFailedUnblock(answer: Exclude<VersionedAnswerKind, 'accepted'>): Verdict {
  const reason = answer === 'outdated' ? 'referencesObjectChanged' : 'writeRejected';
  return { verdict: 'requeue', reason, actions: [] };
}
