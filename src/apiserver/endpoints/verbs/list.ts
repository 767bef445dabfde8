import type { HttpResponse } from '../../../base/http-message.ts';
import { listObjects } from '../../registry/list-objects.ts';
import { selectionOf } from './selection-of.ts';
import { listRevision, parseListOptions, validateListOptions } from '../request/list-options.ts';
import { writeList } from '../response/list-writer.ts';
import { refuseMismatch } from '../response/object-writer.ts';
import type { ResourceScope } from '../request/resource-scope.ts';

/** GET of a collection (API-091..103). */
export async function handleList(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, context } = scope;
  const options = parseListOptions(context.query);
  validateListOptions(options);
  refuseMismatch(scope, 'list');
  const selection = selectionOf(scope, options);
  const page = await listObjects(resource, {
    selection,
    // A list of "any state" is never paged (API-093).
    limit: options.resourceVersion === '0' && options.continueToken === '' ? 0 : Math.max(0, options.limit),
    continueToken: options.continueToken,
    revision: listRevision(options.resourceVersion),
    match: options.resourceVersionMatch === 'Exact' ? 'Exact' : '',
  });
  return writeList(scope, { ...page, shards: selection.shards?.text });
}
