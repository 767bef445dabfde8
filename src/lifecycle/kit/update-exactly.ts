import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

interface ExactUpdate<T extends KubeObject> {
  readonly gvr: GroupVersionResource;
  /** The next state, with the resource version on which the decision rests. */
  readonly object: T;
  readonly subresource?: 'status';
  readonly signal: AbortSignal;
}

/**
 * Replaces one object, and resolves with the server's. `gone` means that it no longer exists; the event of its deletion follows. `changed`
 * means that the server has another object or version, so the caller decides again. Throws any other refusal.
 */
export async function updateExactly<T extends KubeObject>(
  client: RestClient,
  { gvr, object, subresource, signal }: ExactUpdate<T>,
): Promise<T | 'gone' | 'changed'> {
  const { namespace, name = '' } = object.metadata ?? {};
  const ref = {
    gvr,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  try {
    return await client.update<T>(ref, object, { signal });
  } catch (error) {
    if (isObjectNotFound(error, name)) return 'gone';
    if (isConflict(error)) return 'changed';
    throw error;
  }
}
