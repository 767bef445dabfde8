import type { RestClient } from '../../client/rest/rest-client.ts';

/** The context that every call needs. */
export interface CallContext {
  readonly client: RestClient;
  /** Aborts the request under way. */
  readonly signal: AbortSignal;
  /** Called after a 404 that is about the path and not about the object: discovery may be out of date (COL-116). */
  readonly onPathNotFound: () => void;
}
