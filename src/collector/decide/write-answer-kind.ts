/**
 * The outcome of a write. `absent` is a proof that the object with this uid does not exist (COL-116); `failed` proves
 * nothing, not even that the write did not happen.
 */
export type WriteAnswerKind = 'accepted' | 'absent' | 'conflict' | 'invalid' | 'unsupportedMediaType' | 'failed';

/** `outdated`: the object is not what the write rests on any more: at another version, or not being deleted. */
export type VersionedAnswerKind = WriteAnswerKind | 'outdated';
