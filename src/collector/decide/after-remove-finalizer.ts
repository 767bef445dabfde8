import { unreachable } from '../../base/errors/assert.ts';
import type { Verdict } from './step.ts';
import type { VersionedAnswerKind } from './write-answer-kind.ts';

/**
 * The next step after the last answer of P5, after its own retries on conflicts (COL-153). Success also means that the finalizer, or the
 * whole object, is already gone.
 */
export function afterRemoveFinalizer(answer: VersionedAnswerKind): Verdict {
  switch (answer) {
    case 'accepted':
      return { verdict: 'forget', reason: 'patchAccepted', actions: [] };
    case 'absent':
      return { verdict: 'forget', reason: 'objectAbsent', actions: [] };
    case 'conflict':
      return { verdict: 'requeue', reason: 'finalizerConflictsExhausted', actions: [] };
    case 'outdated':
      return { verdict: 'requeue', reason: 'finalizerObjectChanged', actions: [] };
    case 'invalid':
    case 'unsupportedMediaType':
    case 'failed':
      return { verdict: 'requeue', reason: 'writeRejected', actions: [] };
    default:
      return unreachable(answer);
  }
}
