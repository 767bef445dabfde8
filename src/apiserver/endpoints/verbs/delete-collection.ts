import { deleteWarnings } from '../../../api/deletion/delete-answer.ts';
import { isDryRun, unreadableRefused } from '../../../api/deletion/delete-options.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { deleteCollection } from '../../registry/delete-collection.ts';
import { selectionOf } from './selection-of.ts';
import { readDeleteOptions } from './delete.ts';
import { parseListOptions, validateListOptions } from '../request/list-options.ts';
import { writeList } from '../response/list-writer.ts';
import { deletionContext, type ResourceScope } from '../request/resource-scope.ts';

/** List options always come from the query. */
export async function handleDeleteCollection(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, info } = scope;
  const list = parseListOptions(context.query);
  validateListOptions(list);
  const options = await readDeleteOptions(scope);
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) throw unreadableRefused('collection');
  for (const warning of deleteWarnings(info, options)) context.warn(warning);
  const deleted = await deleteCollection(resource, {
    selection: selectionOf(scope, list),
    limit: Math.max(0, list.limit),
    continueToken: list.continueToken,
    options,
    context: deletionContext(scope, isDryRun(options)),
  });
  return writeList(scope, deleted);
}
