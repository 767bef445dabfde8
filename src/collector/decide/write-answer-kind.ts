/**
 * The outcome of a write. `absent` proves that the object with this uid does not exist (COL-116). `failed` proves nothing; even the write
 * may have succeeded.
 */
export type WriteAnswerKind = 'accepted' | 'absent' | 'conflict' | 'invalid' | 'unsupportedMediaType' | 'failed';

/** `outdated` means that the write no longer applies: the object has another version, or is not being deleted. */
export type VersionedAnswerKind = WriteAnswerKind | 'outdated';
