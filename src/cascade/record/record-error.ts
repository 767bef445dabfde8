/** A record cannot be written or used: the error says what is wrong and what to do next. */
export class RecordError extends Error {
  readonly code: RecordErrorCode;
  readonly advice: string;

  constructor(code: RecordErrorCode, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RecordError';
    this.code = code;
    this.advice = advice;
  }
}

export type RecordErrorCode =
  /** No record, or several, have the id. */
  | 'notFound'
  | 'ambiguous'
  /** The files differ from those that were written. */
  | 'damaged'
  /** Written by a later version of kubegc. */
  | 'laterVersion'
  /** The directory of records cannot be read, or not written. */
  | 'unreadable'
  | 'unwritable'
  /** The key of the Secrets is missing or wrong. */
  | 'key'
  /** An object changed or vanished while its body was read. */
  | 'changed';
