import type { StatusError } from '../status-error.ts';
import { newUnprocessable } from '../status-error.ts';

/**
 * A well-formed patch that cannot be applied to this object: the generic 422 of API-194 and API-196. The cause is kept as `cause` for the log,
 * and for senders of the patch other than a client; kube-apiserver does not report it to a client either.
 */
export function rejectedPatch(why: string): StatusError {
  const error = newUnprocessable();
  error.cause = why;
  return error;
}
