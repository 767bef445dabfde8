import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isInvalid, isObjectNotFound, isUnsupportedMediaType } from '../../api/status-error.ts';
import { type LiveObject, liveObjectOf } from '../decide/live-object.ts';
import { asError } from './read-metadata.ts';

/**
 * What became of a write. `absent` is a proof (COL-116); `failed` says nothing about the object: the write may or may
 * not have happened (COL-156).
 */
export type WriteAnswer =
  | { readonly answer: 'accepted'; readonly object: LiveObject | undefined }
  | { readonly answer: 'absent' }
  | { readonly answer: 'conflict' | 'invalid' | 'unsupportedMediaType' | 'failed'; readonly error: Error };

export async function answerOf(name: string, write: () => Promise<KubeObject>): Promise<WriteAnswer> {
  try {
    const { metadata, kind } = await write();
    return { answer: 'accepted', object: kind === 'Status' || !metadata?.uid ? undefined : liveObjectOf(metadata) };
  } catch (error) {
    if (isObjectNotFound(error, name)) return { answer: 'absent' };
    const answer = isConflict(error)
      ? 'conflict'
      : isInvalid(error)
        ? 'invalid'
        : isUnsupportedMediaType(error)
          ? 'unsupportedMediaType'
          : 'failed';
    return { answer, error: asError(error) };
  }
}
