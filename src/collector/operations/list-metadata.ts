import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { asError } from '../../base/errors/thrown.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { CallContext } from './call-context.ts';

const PAGE_SIZE = 500;

/** `stopped`: the visitor did not accept a page. */
export type ListOutcome = { readonly end: 'complete' | 'stopped' } | { readonly end: 'failed'; readonly error: Error };

/** Called before the objects of a page, with their number plus the number of objects after the page, if the server reports it. */
type AcceptPage = (objects: number) => boolean;

interface MetadataVisitor {
  readonly visit: (metadata: ObjectMeta) => void;
  /** False ends the list. */
  readonly accept: AcceptPage;
}

/** Lists the metadata of all objects of a resource, or of one namespace of it, as of now: without resourceVersion, page by page. */
export async function listMetadata(
  { client, signal }: Pick<CallContext, 'client' | 'signal'>,
  ref: ResourceRef,
  { visit, accept }: MetadataVisitor,
): Promise<ListOutcome> {
  let token: string | undefined;
  try {
    // The number of turns is bounded by the number of the server's pages, and by the visitor.
    do {
      const query = { limit: PAGE_SIZE, continue: token };
      const { items, metadata } = await client.list<KubeObject>(ref, {
        query,
        accept: ACCEPT_METADATA_LIST_JSON,
        signal,
      });
      if (!accept(items.length + (metadata.remainingItemCount ?? 0))) return { end: 'stopped' };
      for (const item of items) visit(item.metadata ?? {});
      token = metadata.continue === '' ? undefined : metadata.continue;
    } while (token !== undefined);
    return { end: 'complete' };
  } catch (error) {
    return { end: 'failed', error: asError(error) };
  }
}
