import { unreachable } from '../../base/errors/assert.ts';
import type { DeleteAction } from './actions.ts';
import type { Verdict } from './step.ts';
import type { WriteAnswerKind } from './write-answer-kind.ts';

/** Decide again immediately: call `attemptToDelete` with `shortcut: 'spent'` and without answers. */
interface Redecide {
  readonly next: 'redecide';
}

/**
 * The next step after the answer to a DELETE: COL-093, COL-094, COL-098, COL-150...COL-152. After a conflict only the uid of the decision
 * is still valid: everything is read and decided again, and the next DELETE names the version of that read. COL-151 would repeat it with
 * the uid alone if the references are unchanged. That is not safe, because the object may get a living owner while the request is under way
 * (designs/0009).
 */
export function afterDelete({ identity }: DeleteAction, answer: WriteAnswerKind): Verdict | Redecide {
  switch (answer) {
    case 'accepted':
      return { verdict: 'forget', reason: 'deleteAccepted', actions: [] };
    case 'absent':
      return { verdict: 'forget', reason: 'objectAbsent', actions: [{ action: 'emitVirtualDelete', identity }] };
    case 'conflict':
      return { next: 'redecide' };
    case 'invalid':
    case 'unsupportedMediaType':
    case 'failed':
      return { verdict: 'requeue', reason: 'writeRejected', actions: [] };
    default:
      return unreachable(answer);
  }
}
