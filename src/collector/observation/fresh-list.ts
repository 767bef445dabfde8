import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { ObservedObject } from '../types/event.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';

const PAGE_SIZE = 500;

/** Metadata of all objects of a resource as the server has it now, page by page (COL-040). Bounded by the number of stored objects. */
export async function* freshList(
  client: RestClient,
  { group, version, resource }: OfferedResource,
  signal: AbortSignal,
): AsyncGenerator<ObservedObject, void, undefined> {
  let token: string | undefined;
  do {
    const { items, metadata } = await client.list(
      { gvr: { group, version, resource } },
      { accept: ACCEPT_METADATA_LIST_JSON, query: { limit: PAGE_SIZE, continue: token }, signal },
    );
    for (const item of items) yield observedObject(item);
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
}

function observedObject({ metadata = {} }: KubeObject): ObservedObject {
  const { uid = '', name = '', namespace = '', resourceVersion = '', ownerReferences, finalizers } = metadata;
  return {
    uid,
    name,
    namespace,
    resourceVersion,
    ownerReferences: ownerReferences ?? [],
    deleting: Boolean(metadata.deletionTimestamp),
    finalizers: finalizers ?? [],
  };
}
