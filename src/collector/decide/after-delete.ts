import { unreachable } from '../../base/assert.ts';
import type { DeleteAction } from './actions.ts';
import type { LatestAnswer } from './facts.ts';
import { sameReferences } from './live-object.ts';
import type { NeedLatest, Verdict } from './step.ts';
import type { WriteAnswerKind } from './write-answer-kind.ts';

/** DELETE the same target with the same policy again, with the uid as its only precondition. */
export interface DeleteByUid {
  readonly next: 'deleteByUid';
}

/** Call `attemptToDelete` again at once, with `shortcut: 'spent'` and no answers. */
export interface Redecide {
  readonly next: 'redecide';
}

export interface DeleteAnswer {
  readonly action: DeleteAction;
  readonly answer: WriteAnswerKind;
  /** `byUid` for the answer to a `deleteByUid`. */
  readonly attempt: 'first' | 'byUid';
  /** The GET after a conflict; `unasked` before it. */
  readonly latest: LatestAnswer;
}

/** What follows from the answer to a DELETE: COL-093, COL-094, COL-098, COL-150...COL-152. */
export function afterDelete({
  action,
  answer,
  attempt,
  latest,
}: DeleteAnswer): Verdict | NeedLatest | DeleteByUid | Redecide {
  switch (answer) {
    case 'accepted':
      return {
        verdict: 'forget',
        reason: attempt === 'first' ? 'deleteAccepted' : 'deleteConflictUnrelated',
        actions: [],
      };
    case 'absent':
      return absent(action);
    case 'conflict':
      if (attempt === 'byUid') return { verdict: 'requeue', reason: 'deleteConflict', actions: [] };
      return action.basis === 'graph' ? { next: 'redecide' } : afterConflict(action, latest);
    case 'invalid':
    case 'unsupportedMediaType':
    case 'failed':
      return { verdict: 'requeue', reason: 'writeRejected', actions: [] };
    default:
      return unreachable(answer);
  }
}

/** COL-151: only if nothing but other fields changed is the delete repeated, so that busy objects cannot starve it. */
function afterConflict(action: DeleteAction, latest: LatestAnswer): Verdict | NeedLatest | DeleteByUid {
  const { uid, resourceVersion } = action.preconditions;
  switch (latest.state) {
    case 'unasked':
      return { need: 'latest', target: action.target };
    case 'absent':
      return absent(action);
    case 'error':
      return { verdict: 'requeue', reason: 'objectUnreadable', actions: [] };
    case 'found': {
      const { object } = latest;
      if (object.uid !== uid) return absent(action);
      // Somebody else deletes it by now, and may have asked it to wait: our policy, decided before, would undo that.
      const unrelated =
        object.resourceVersion !== resourceVersion &&
        !object.deleting &&
        sameReferences(object.ownerReferences, action.classified);
      return unrelated ? { next: 'deleteByUid' } : { verdict: 'requeue', reason: 'deleteConflict', actions: [] };
    }
    default:
      return unreachable(latest);
  }
}

function absent({ identity }: DeleteAction): Verdict {
  return { verdict: 'forget', reason: 'objectAbsent', actions: [{ action: 'emitVirtualDelete', identity }] };
}
