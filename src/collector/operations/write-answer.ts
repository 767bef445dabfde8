import type { KubeObject } from '../../api/meta/object-meta.ts';
import {
  isConflict,
  isInvalid,
  isNotFound,
  isObjectNotFound,
  isUnsupportedMediaType,
  type StatusError,
} from '../../api/status-error.ts';
import { type LiveObject, liveObjectOf } from '../decide/live-object.ts';
import type { Target } from '../decide/target.ts';
import type { VersionedAnswerKind, WriteAnswerKind } from '../decide/write-answer-kind.ts';
import type { CallContext } from './call-context.ts';
import { asError } from '../../base/errors/thrown.ts';
import { NoObjectError, readMetadata } from './read-metadata.ts';

/** What became of a write, with the object the server answered with or the error it gave. */
export interface WriteAnswer {
  readonly answer: WriteAnswerKind;
  /** Accepted without a request: a read showed that what was wanted is so already. */
  readonly unneeded?: true;
  readonly object?: LiveObject;
  readonly error?: Error;
}

/** To a write that may rest on a version. */
export interface VersionedAnswer extends Omit<WriteAnswer, 'answer'> {
  readonly answer: VersionedAnswerKind;
}

/**
 * Makes the write and judges its answer. Never rejects: what is no answer is `failed`, and the write may have happened.
 *
 * A 404 with the object's name is a proof only of a read: admission stands before a write, and may not find something else that has the
 * same name (designs/0013). So the object is read, with one request more.
 */
export async function answerOf(
  context: CallContext,
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
    if (isObjectNotFound(error, target.name)) return await afterNotFound(context, target, error);
    if (isNotFound(error)) context.onPathNotFound();
    return { answer: kindOf(error), error: asError(error) };
  }
}

/**
 * The answer to a write that rests on a version, if it does: a conflict is nothing that the server holds against it (designs/0012).
 */
export function restingOn(version: string | undefined, answer: WriteAnswer): VersionedAnswer {
  return version !== undefined && answer.answer === 'conflict' ? { ...answer, answer: 'outdated' } : answer;
}

/** `error`: the 404. If the read fails, that is what the write came to: perhaps nobody answers any more. */
async function afterNotFound(context: CallContext, target: Target, error: StatusError): Promise<WriteAnswer> {
  const read = await readMetadata(context, target);
  if (read.state === 'error') return { answer: 'failed', error: read.error };
  const isAbsent = read.state === 'absent' || read.object.uid !== target.uid;
  return isAbsent ? { answer: 'absent' } : { answer: 'failed', error };
}

function kindOf(error: unknown): WriteAnswerKind {
  if (isConflict(error)) return 'conflict';
  if (isInvalid(error)) return 'invalid';
  return isUnsupportedMediaType(error) ? 'unsupportedMediaType' : 'failed';
}
