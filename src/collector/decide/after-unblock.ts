import type { DeleteAction } from './actions.ts';
import { sameReferences, type LiveObject } from './live-object.ts';
import type { Verdict } from './step.ts';
import type { VersionedAnswerKind } from './write-answer-kind.ts';

/** The delete that follows a successful `unblockReferences`, with the new version. */
interface DeletePatched {
  readonly next: 'delete';
  readonly action: DeleteAction;
}

/**
 * For row 13, the delete may rest on the patched object only if nothing changed except what the patch intended. If another client has
 * meanwhile deleted the object with policy Orphan, our earlier policy would undo that. `patched` is the object in the answer, undefined if
 * the answer had none.
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

/** If P3 or P4 failed, the following actions are decided again (COL-094). */
export function afterFailedUnblock(answer: Exclude<VersionedAnswerKind, 'accepted'>): Verdict {
  const reason = answer === 'outdated' ? 'referencesObjectChanged' : 'writeRejected';
  return { verdict: 'requeue', reason, actions: [] };
}
