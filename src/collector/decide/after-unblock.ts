import type { DeleteAction } from './actions.ts';
import { sameReferences, type LiveObject } from './live-object.ts';
import type { Verdict } from './step.ts';

/** The delete that follows a successful `unblockReferences`, now with a version of its own. */
export interface DeletePatched {
  readonly next: 'delete';
  readonly action: DeleteAction;
}

/**
 * Row 13: the delete may rest on the object as patched only if the patch changed nothing but what it meant to. `patched`:
 * the object in the answer, undefined when the answer had none.
 */
export function afterUnblock(action: DeleteAction, patched: LiveObject | undefined): DeletePatched | Verdict {
  const { uid } = action.preconditions;
  if (patched === undefined || patched.uid !== uid || !sameReferences(patched.ownerReferences, action.classified)) {
    return { verdict: 'requeue', reason: 'patchedReferencesChanged', actions: [] };
  }
  const { resourceVersion } = patched;
  return { next: 'delete', action: { ...action, preconditions: { uid, resourceVersion } } };
}
