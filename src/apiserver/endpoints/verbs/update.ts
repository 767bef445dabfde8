import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { fillNamespace } from '../../registry/create-object.ts';
import { checkName } from '../../registry/object/object-meta.ts';
import { updateObject, type UpdateRequest } from '../../registry/update-object.ts';
import { decodeObject } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** PUT of an object or of a subresource that has the object's own kind (API-170..176, API-330). */
export async function handleUpdate(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, namespace, name } = scope;
  const options = parseWriteOptions(context.query, 'UpdateOptions');
  const decode = (): Promise<KubeObject> =>
    decodeObject(context, resource.schema, options.fieldValidation, resource.environment.clock);
  const object = await decode();
  // This comes before uid and version, which the store compares.
  fillNamespace(object, namespace, resource.info.namespaced);
  checkName(object, name);
  const result = await updateObject(resource, {
    namespace,
    name,
    ...updatedPart(scope),
    method: 'put',
    next: freshCopies(object, decode),
    context: writeContext(scope, options.dryRun),
  });
  return writeObject(scope, result.outcome === 'created' ? 201 : 200, result.object);
}

/** Subresources of the object's own kind whose strategy picks their part; all others write the status. */
const ownParts: ReadonlySet<string> = new Set(['approval', 'ephemeralcontainers', 'resize']);

export function updatedPart({ subresource }: ResourceScope): Pick<UpdateRequest, 'subresource' | 'part'> {
  if (subresource === undefined) return { subresource: '', part: 'object' };
  return { subresource: subresource.name, part: ownParts.has(subresource.name) ? 'whole' : 'status' };
}

/** Copies nothing in advance, because an update is usually applied once; after a conflict it is decoded again. */
export function freshCopies(first: KubeObject, decodeAgain: () => Promise<KubeObject>): UpdateRequest['next'] {
  let ready: KubeObject | undefined = first;
  return () => {
    const object = ready ?? decodeAgain();
    ready = undefined;
    return object;
  };
}
