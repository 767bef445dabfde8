import { unreachable } from '../../base/errors/assert.ts';
import type { DeleteAction } from './actions.ts';
import type { Verdict } from './step.ts';
import type { WriteAnswerKind } from './write-answer-kind.ts';

/** Call `attemptToDelete` again at once, with `shortcut: 'spent'` and no answers. */
export interface Redecide {
  readonly next: 'redecide';
}

/**
 * The next step after the answer to a DELETE: COL-093, COL-094, COL-098, COL-150...COL-152.
 *
 * After a conflict nothing of the decision is left but the uid: everything is read and decided anew, and the next DELETE
 * names the version that it then rests on. COL-151 repeats it with the uid alone if the references are what they were. That
 * is not safe: while it is on its way the object may get an owner that lives (designs/0009).
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
