/**
 * What became of a write. `absent` is a proof that the object with this uid does not exist (COL-116); `failed` proves
 * nothing, not even that the write did not happen.
 */
export type WriteAnswerKind = 'accepted' | 'absent' | 'conflict' | 'invalid' | 'unsupportedMediaType' | 'failed';
