import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Target } from '../decide/target.ts';
import { isNamespace } from '../types/namespaces.ts';
import { resourceRefOf } from './read-metadata.ts';

/** The parts of a terminating object that the graph does not keep. */
export interface HeldObject {
  readonly uid: unknown;
  readonly finalizers: unknown;
  readonly managedFields: unknown;
  /** `status.conditions` of a Namespace; undefined for any other kind. */
  readonly conditions: unknown;
}

const TIMEOUT_MS = 10_000;

/**
 * Reads a terminating object by one GET: only the metadata, except for a Namespace, whose conditions describe its remaining content.
 * Rejects like the client.
 */
export async function readHolders(
  { client, signal }: { readonly client: RestClient; readonly signal: AbortSignal },
  target: Target,
): Promise<HeldObject> {
  const withConditions = isNamespace(target);
  const object = await client.get<Read | null>(resourceRefOf(target), {
    ...(withConditions ? {} : { accept: ACCEPT_METADATA_JSON }),
    signal,
    timeoutMs: TIMEOUT_MS,
  });
  const { uid, finalizers, managedFields } = object?.metadata ?? {};
  return { uid, finalizers, managedFields, conditions: withConditions ? object?.status?.conditions : undefined };
}

interface Read {
  readonly metadata?: {
    readonly uid?: unknown;
    readonly finalizers?: unknown;
    readonly managedFields?: unknown;
  } | null;
  readonly status?: { readonly conditions?: unknown } | null;
}
