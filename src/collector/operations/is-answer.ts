import { hasStatusCause, StatusError } from '../../api/status-error.ts';

/**
 * Whether the server itself said that: it was there then, and is the one it was. No answer, a page of something in between, and 5xx, which
 * also stands for a server that is away, leave open who answers next: a backup may have been restored meanwhile (designs/0011).
 */
export function isAnswer(error: Error): boolean {
  return error instanceof StatusError && (error.code < 500 || hasStatusCause(error, 'ResourceVersionTooLarge'));
}
