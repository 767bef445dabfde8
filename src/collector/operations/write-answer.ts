import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isInvalid, isObjectNotFound, isUnsupportedMediaType } from '../../api/status-error.ts';
import { type LiveObject, liveObjectOf } from '../decide/live-object.ts';
import type { WriteAnswerKind } from '../decide/write-answer-kind.ts';
import { asError } from './read-metadata.ts';

/** What became of a write, with the object the server answered with or the error it gave. */
export interface WriteAnswer {
  readonly answer: WriteAnswerKind;
  readonly object?: LiveObject;
  readonly error?: Error;
}

export async function answerOf(name: string, write: () => Promise<KubeObject>): Promise<WriteAnswer> {
  try {
    const { metadata, kind } = await write();
    return kind === 'Status' || !metadata?.uid
      ? { answer: 'accepted' }
      : { answer: 'accepted', object: liveObjectOf(metadata) };
  } catch (error) {
    return isObjectNotFound(error, name) ? { answer: 'absent' } : { answer: kindOf(error), error: asError(error) };
  }
}

function kindOf(error: unknown): WriteAnswerKind {
  if (isConflict(error)) return 'conflict';
  if (isInvalid(error)) return 'invalid';
  return isUnsupportedMediaType(error) ? 'unsupportedMediaType' : 'failed';
}
