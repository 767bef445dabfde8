import type { HttpResponse } from '../../../base/http-message.ts';
import { listObjects } from '../../registry/list-objects.ts';
import { Selection } from '../../registry/selection.ts';
import { listRevision, parseListOptions, validateListOptions } from '../request/list-options.ts';
import { writeList } from '../response/list-writer.ts';
import { refuseMismatch } from '../response/object-writer.ts';
import type { ResourceScope } from '../request/resource-scope.ts';

/** GET of a collection (API-091..103). */
export async function handleList(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, namespace, context } = scope;
  const options = parseListOptions(context.query);
  validateListOptions(options);
  refuseMismatch(scope, 'list');
  const page = await listObjects(resource, {
    selection: new Selection(resource, namespace, options),
    // A list of "any state" is never paged (API-093).
    limit: options.resourceVersion === '0' && options.continueToken === '' ? 0 : Math.max(0, options.limit),
    continueToken: options.continueToken,
    revision: listRevision(options.resourceVersion),
    match: options.resourceVersionMatch === 'Exact' ? 'Exact' : '',
  });
  return writeList(scope, page);
}
