import { unreachable } from '../../base/errors/assert.ts';
import type { Uid } from '../types/identity.ts';
import type { LatestAnswer } from './facts.ts';
import type { NeedLatest } from './step.ts';
import type { Target } from './target.ts';
import type { VersionedAnswerKind } from './write-answer-kind.ts';

interface RemoveReferencesAnswer {
  readonly target: Target;
  readonly owners: readonly Uid[];
  readonly answer: VersionedAnswerKind;
  /** The answer to the GET after a 422; `unasked` before it. */
  readonly latest: LatestAnswer;
}

/**
 * `released` means that the references no longer exist. `gone` means that the dependent is proven absent. `failed` means that the key is
 * retried (COL-094, COL-154).
 */
type Release =
  | { readonly release: 'released'; readonly reason: 'patchAccepted' | 'patchNotNeeded' }
  | { readonly release: 'gone'; readonly reason: 'objectAbsent' | 'objectReplaced' }
  | { readonly release: 'failed'; readonly reason: 'writeRejected' | 'referencesObjectChanged' };

/** The next step after the answer to P1 or P2, for row 12 of COL-090 and for each dependent that is orphaned (COL-120). */
export function afterRemoveReferences(input: RemoveReferencesAnswer): Release | NeedLatest {
  const { target, answer } = input;
  switch (answer) {
    case 'accepted':
      return { release: 'released', reason: 'patchAccepted' };
    case 'absent':
      return { release: 'gone', reason: 'objectAbsent' };
    case 'invalid':
      // This is normal if another client removed the references first, or another object has taken the name (COL-155, BETTER-16).
      return input.latest.state === 'unasked' ? { need: 'latest', target } : afterInvalid(input);
    case 'outdated':
      return { release: 'failed', reason: 'referencesObjectChanged' };
    case 'conflict':
    case 'unsupportedMediaType':
    case 'failed':
      return { release: 'failed', reason: 'writeRejected' };
    default:
      return unreachable(answer);
  }
}

function afterInvalid({ target, owners, latest }: RemoveReferencesAnswer): Release {
  if (latest.state === 'absent') return { release: 'gone', reason: 'objectAbsent' };
  if (latest.state !== 'found') return { release: 'failed', reason: 'writeRejected' };
  if (latest.object.uid !== target.uid) return { release: 'gone', reason: 'objectReplaced' };
  const refers = latest.object.ownerReferences.some(({ uid }) => owners.includes(uid));
  return refers ? { release: 'failed', reason: 'writeRejected' } : { release: 'released', reason: 'patchNotNeeded' };
}
