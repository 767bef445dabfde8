import type { StatusError } from '../status-error.ts';
import { newUnprocessable } from '../status-error.ts';

/**
 * A well-formed patch that cannot be applied to this object: the generic 422 of API-194 and API-196. What went wrong is
 * kept as `cause` for the log, and for whom else than the client has sent the patch; a client is not told by kube-apiserver either.
 */
export function rejectedPatch(why: string): StatusError {
  const error = newUnprocessable();
  error.cause = why;
  return error;
}
