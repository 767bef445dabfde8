import type { StatusError } from '../status-error.ts';
import { newUnprocessable } from '../status-error.ts';

/**
 * A well-formed patch that cannot be applied to this object: the generic 422 of API-194 and API-196. Its `cause` serves the log and
 * internal callers; like kube-apiserver, the server does not report it to a client.
 */
export function rejectedPatch(why: string): StatusError {
  const error = newUnprocessable();
  error.cause = why;
  return error;
}
