import { newRequestEntityTooLarge } from '../../api/status-error.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';

/** API-007. */
const BODY_LIMIT = 3 * 1024 * 1024;

/** The listener keeps no more than one byte above the limit, so a body that is too large is seen without being held. */
export function limitBody({ request }: RequestContext): void {
  if ((request.body?.length ?? 0) > BODY_LIMIT) throw newRequestEntityTooLarge(`limit is ${BODY_LIMIT}`);
}
