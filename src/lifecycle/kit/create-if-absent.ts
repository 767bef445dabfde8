import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isObjectNotFound } from '../../api/status-error.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { CallOptions, RestClient } from '../../client/rest/rest-client.ts';
import { isNamespaceTerminating } from './active-namespace.ts';

type CreateOutcome =
  | { readonly outcome: 'created'; readonly object: KubeObject }
  /** Another client was faster, or the object is still being deleted. Its event follows. */
  | { readonly outcome: 'exists' }
  /** The namespace is terminating or gone, so creates in it never succeed again (LIFE-011). */
  | { readonly outcome: 'namespace-going' };

interface CreateRequest {
  readonly ref: ResourceRef & { readonly namespace: string };
  readonly object: KubeObject;
  readonly options?: CallOptions;
}

/** Creates an object that every namespace has. Permanent refusals are returned as outcomes, others are thrown. */
export async function createIfAbsent(
  client: RestClient,
  { ref, object, options }: CreateRequest,
): Promise<CreateOutcome> {
  try {
    return { outcome: 'created', object: await client.create(ref, object, options) };
  } catch (error) {
    if (isAlreadyExists(error)) return { outcome: 'exists' };
    if (isNamespaceTerminating(error) || isObjectNotFound(error, ref.namespace)) return { outcome: 'namespace-going' };
    throw error;
  }
}
