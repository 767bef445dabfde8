import type { DeleteOptions } from '../../api/deletion/delete-options.ts';
import { isNotFound } from '../../api/status-error.ts';
import { deleteObject } from './delete-object.ts';
import { type ListPage, listObjects } from './list-objects.ts';
import type { ResourceStore } from './resource-store.ts';
import type { Selection } from './selection.ts';
import type { ServedObject } from './object/served-object.ts';
import type { WriteContext } from './strategy.ts';

/** Maximum number of objects in one list (API-271). */
const PAGE = 10_000;
/** Maximum number of concurrent deletions for one request (API-274). With group commit, more of them share one commit. */
const DELETIONS_IN_FLIGHT = 64;

export interface DeleteCollectionRequest {
  readonly selection: Selection;
  /** 0 deletes all pages; otherwise only the first page of this size (API-272). */
  readonly limit: number;
  readonly continueToken: string;
  readonly options: DeleteOptions;
  readonly context: WriteContext;
}

/**
 * Lists the objects, then deletes each with its own copy of the options. Not atomic: objects that are already gone are skipped; the first
 * other error stops the work (deletions in progress finish) and is thrown (API-271). Returns the objects as listed.
 */
export async function deleteCollection(
  resource: ResourceStore,
  request: DeleteCollectionRequest,
): Promise<{ readonly items: readonly ServedObject[]; readonly revision: number }> {
  const items: ServedObject[] = [];
  let { continueToken } = request;
  // The loop is bounded: each page advances in one snapshot.
  for (;;) {
    const page: ListPage = await listObjects(resource, {
      selection: request.selection,
      limit: request.limit === 0 ? PAGE : request.limit,
      continueToken,
      revision: 0,
      match: '',
    });
    const listed = [...page.items];
    await deleteAll(resource, request, listed);
    for (const item of listed) items.push(item);
    if (request.limit > 0 || page.continueToken === undefined) return { items, revision: page.revision };
    ({ continueToken } = page);
  }
}

async function deleteAll(
  resource: ResourceStore,
  request: DeleteCollectionRequest,
  items: readonly ServedObject[],
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const item = items[next++];
      if (item === undefined) return;
      const { namespace = '', name = '' } = item.metadata();
      try {
        await deleteObject(resource, {
          namespace,
          name,
          options: structuredClone(request.options),
          admittedName: '',
          context: request.context,
        });
      } catch (error) {
        if (!isNotFound(error)) failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(DELETIONS_IN_FLIGHT, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
