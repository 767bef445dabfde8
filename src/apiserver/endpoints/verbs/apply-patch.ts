import type { HttpResponse } from '../../../base/http-message.ts';
import { applyObject, validatedConfiguration } from '../../registry/apply-object.ts';
import { readConfiguration, repeatedKeysOf } from '../request/apply-body.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseApplyOptions } from '../request/write-options.ts';
import { writeObject } from '../response/object-writer.ts';
import { updatedPart } from './update.ts';

/** PATCH with an apply configuration, of an object or of a subresource that has the object's own kind. */
export async function handleApply(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, namespace, name } = scope;
  const options = parseApplyOptions(context.query);
  const configuration = await readConfiguration(context, resource.environment.clock);
  const result = await applyObject(resource, {
    namespace,
    name,
    ...updatedPart(scope),
    config: validatedConfiguration(configuration.config, resource.schema),
    manager: options,
    repeatedKeys: repeatedKeysOf(configuration, options.fieldValidation),
    context: writeContext(scope, options.dryRun),
  });
  return writeObject(scope, result.outcome === 'created' ? 201 : 200, result.object);
}
