import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

/**
 * Writes the status of an object, and once more on its live state if that has changed. Undefined if the object is gone or another one has
 * its name. Throws a second conflict, so that the sync is retried.
 */
export async function updateStatus<T extends KubeObject>(
  client: RestClient,
  { gvr, object, status }: { readonly gvr: GroupVersionResource; readonly object: T; readonly status: object },
  signal: AbortSignal,
): Promise<T | undefined> {
  const { namespace = '', name = '', uid } = object.metadata ?? {};
  const ref = { gvr, name, ...(namespace === '' ? {} : { namespace }) };
  const write = (base: T): Promise<T> =>
    client.update<T>({ ...ref, subresource: 'status' }, { ...base, status }, { signal });
  try {
    try {
      return await write(object);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    const live = await client.get<T>(ref, { signal });
    return live.metadata?.uid === uid ? await write(live) : undefined;
  } catch (error) {
    if (isObjectNotFound(error, name)) return undefined;
    throw error;
  }
}
