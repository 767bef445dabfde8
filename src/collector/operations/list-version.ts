import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import { versionNumber } from '../types/version-number.ts';
import type { CallContext } from './call-context.ts';

/** Time limit of the request, ms. */
const TIMEOUT_MS = 10_000;

/** The present version of the server, from a list of this resource: of its most recent state, one object. NaN if it is no number. */
export async function listVersion(
  { client, signal }: Pick<CallContext, 'client' | 'signal'>,
  ref: ResourceRef,
): Promise<number> {
  const { metadata } = await client.list(ref, {
    query: { limit: 1 },
    accept: ACCEPT_METADATA_LIST_JSON,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const { resourceVersion = '' } = metadata;
  return versionNumber(resourceVersion);
}
