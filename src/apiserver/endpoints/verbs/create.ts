import type { HttpResponse } from '../../../base/http-message.ts';
import { createObject } from '../../registry/create-object.ts';
import { decodeObject } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** POST of a new object (API-150). */
export async function handleCreate(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, namespace } = scope;
  const options = parseWriteOptions(context.query, 'CreateOptions');
  const object = await decodeObject(context, resource.schema, options.fieldValidation, resource.environment.clock);
  const created = await createObject(resource, { namespace, object, context: writeContext(scope, options.dryRun) });
  context.createdName = object.metadata?.name ?? '';
  return writeObject(scope, 201, created);
}
