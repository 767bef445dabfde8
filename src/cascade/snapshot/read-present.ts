import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { isForbidden, isNotFound } from '../../api/status-error.ts';
import { grouped } from '../../base/collections/grouped.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { ACCEPT_METADATA_JSON, ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** Maximum number of objects of one collection that are read one by one; more are read by a list. */
const ONE_BY_ONE = 8;
const PAGE_SIZE = 500;
/** Maximum number of collections that are read concurrently. */
const PARALLEL = 16;

/** An object that exists, with its current metadata. */
export interface PresentObject {
  readonly ref: ObjectReference;
  readonly metadata: ObjectMeta;
}

/**
 * Reads the metadata of those of the objects that exist: a few one by one, many by lists, and those that the user may not get by lists too.
 * An object with the same name but another uid does not count.
 */
export async function readPresent(
  client: RestClient,
  refs: readonly ObjectReference[],
  signal?: AbortNotice,
): Promise<PresentObject[]> {
  const groups = grouped(refs, ({ apiVersion, resource, namespace }) => `${apiVersion}/${resource}/${namespace ?? ''}`);
  const parallel = new Semaphore({ permits: PARALLEL, maxWaiting: groups.size + 1 });
  const found = await Promise.all(
    [...groups.values()].map((group) => parallel.use(() => inCollection(client, group, signal), signal)),
  );
  return found.flat();
}

async function inCollection(
  client: RestClient,
  refs: readonly ObjectReference[],
  signal: AbortNotice | undefined,
): Promise<PresentObject[]> {
  const [{ apiVersion, resource, namespace }] = refs as readonly [ObjectReference];
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const collection = { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) };
  try {
    const all =
      refs.length <= ONE_BY_ONE
        ? await oneByOne(client, { collection, refs, signal })
        : await listed(client, collection, signal);
    const byUid = new Map(refs.map((ref) => [ref.uid, ref]));
    return all.flatMap((metadata) => {
      const ref = byUid.get(metadata.uid ?? '');
      return ref === undefined ? [] : [{ ref, metadata }];
    });
  } catch (error) {
    // The definition of the kind is gone, and its objects with it.
    if (isNotFound(error)) return [];
    throw error;
  }
}

type Collection = Omit<ResourceRef, 'name'>;

async function oneByOne(
  client: RestClient,
  {
    collection,
    refs,
    signal,
  }: {
    readonly collection: Collection;
    readonly refs: readonly ObjectReference[];
    readonly signal: AbortNotice | undefined;
  },
): Promise<ObjectMeta[]> {
  const found: ObjectMeta[] = [];
  for (const { name } of refs) {
    try {
      const { metadata = {} } = await client.get<KubeObject>(
        { ...collection, name },
        { accept: ACCEPT_METADATA_JSON, signal },
      );
      found.push(metadata);
    } catch (error) {
      if (isForbidden(error)) return listed(client, collection, signal);
      if (!isNotFound(error)) throw error;
    }
  }
  return found;
}

async function listed(
  client: RestClient,
  collection: Collection,
  signal: AbortNotice | undefined,
): Promise<ObjectMeta[]> {
  const found: ObjectMeta[] = [];
  let token: string | undefined;
  do {
    const { items, metadata } = await client.list<KubeObject>(collection, {
      query: { limit: PAGE_SIZE, continue: token },
      accept: ACCEPT_METADATA_LIST_JSON,
      signal,
    });
    for (const item of items) found.push(item.metadata ?? {});
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
  return found;
}
