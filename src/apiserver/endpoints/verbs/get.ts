import { newTooLargeResourceVersion } from '../../../api/status-error.ts';
import { newNotFound } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { readRevision } from '../request/list-options.ts';
import { writeObject } from '../response/object-writer.ts';
import type { ResourceScope } from '../request/resource-scope.ts';

/** Reads the newest state, which satisfies any version that exists (API-090). */
export async function handleGet(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, namespace, name, context } = scope;
  const wanted = readRevision(context.query.get('resourceVersion') ?? '');
  const { kv, revision } = await resource.environment.store.get(resource.key(namespace, name));
  if (wanted > revision) throw newTooLargeResourceVersion(wanted, revision);
  if (kv === undefined) throw newNotFound(resource.info, name);
  return writeObject(scope, 200, resource.stored(kv));
}
