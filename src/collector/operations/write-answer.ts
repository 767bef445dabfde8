import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isInvalid, isNotFound, isObjectNotFound, isUnsupportedMediaType } from '../../api/status-error.ts';
import { type LiveObject, liveObjectOf } from '../decide/live-object.ts';
import type { Target } from '../decide/target.ts';
import type { WriteAnswerKind } from '../decide/write-answer-kind.ts';
import type { CallContext } from './call-context.ts';
import { asError } from '../../base/thrown.ts';
import { NoObjectError } from './read-metadata.ts';

/** What became of a write, with the object the server answered with or the error it gave. */
export interface WriteAnswer {
  readonly answer: WriteAnswerKind;
  /** Accepted without a request: a read showed that what was wanted is so already. */
  readonly unneeded?: true;
  readonly object?: LiveObject;
  readonly error?: Error;
}

/** Makes the write and judges its answer. Never rejects: what is no answer is `failed`, and the write may have happened. */
export async function answerOf(
  { onPathNotFound }: Pick<CallContext, 'onPathNotFound'>,
  target: Target,
  write: () => Promise<'success' | KubeObject | null>,
): Promise<WriteAnswer> {
  try {
    const answered = await write();
    if (answered === 'success') return { answer: 'accepted' };
    if (answered?.kind === 'Status' && answered['status'] === 'Success') return { answer: 'accepted' };
    const object = liveObjectOf(answered?.metadata ?? {});
    // Every write names the uid, so that the server can not have meant another object.
    if (answered?.kind === 'Status' || object.uid !== target.uid) throw new NoObjectError(target);
    return { answer: 'accepted', object };
  } catch (error) {
    if (isObjectNotFound(error, target.name)) return { answer: 'absent' };
    if (isNotFound(error)) onPathNotFound();
    return { answer: kindOf(error), error: asError(error) };
  }
}

function kindOf(error: unknown): WriteAnswerKind {
  if (isConflict(error)) return 'conflict';
  if (isInvalid(error)) return 'invalid';
  return isUnsupportedMediaType(error) ? 'unsupportedMediaType' : 'failed';
}
