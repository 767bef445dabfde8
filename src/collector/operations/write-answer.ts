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

/** The result of a write, with the object that the server returned or the error. */
export interface WriteAnswer {
  readonly answer: WriteAnswerKind;
  /** Accepted without a request: a read showed that the wanted state exists already. */
  readonly unneeded?: true;
  readonly object?: LiveObject;
  readonly error?: Error;
}

/** The answer to a write that may rest on a version. */
export interface VersionedAnswer extends Omit<WriteAnswer, 'answer'> {
  readonly answer: VersionedAnswerKind;
}

/**
 * Makes the write and judges its answer. Never rejects: without an answer the result is `failed`, and the write may have happened.
 *
 * A 404 with the object's name proves absence only if it answers a read: admission runs before a write, and may not find another object
 * that has the same name (designs/0013). So the object is read, with one more request.
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
 * The answer to a write that may rest on a version. If it does, a conflict is `outdated`: the server has no objection to the write itself
 * (designs/0012).
 */
export function restingOn(version: string | undefined, answer: WriteAnswer): VersionedAnswer {
  return version !== undefined && answer.answer === 'conflict' ? { ...answer, answer: 'outdated' } : answer;
}

/** `error`: the 404. If the read fails, its error is the result of the write: perhaps nobody answers any more. */
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
