import type { StatusError } from '../status-error.ts';
import { newUnprocessable } from '../status-error.ts';

/**
 * A well-formed patch that cannot be applied to this object: the generic 422 of API-194 and API-196. What went wrong is
 * kept as `cause` for the log; kube-apiserver does not tell it either.
 */
export function rejectedPatch(why: string): StatusError {
  const error = newUnprocessable();
  error.cause = why;
  return error;
}
