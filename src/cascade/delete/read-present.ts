import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { isNotFound } from '../../api/status-error.ts';
import { grouped } from '../../base/collections/grouped.ts';
import { ACCEPT_METADATA_JSON, ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** Objects of one collection that are read one by one; more of them are listed. */
const ONE_BY_ONE = 8;
const PAGE_SIZE = 500;

/** An object that exists, with its metadata of now. */
export interface PresentObject {
  readonly ref: ObjectReference;
  readonly metadata: ObjectMeta;
}

/** Reads the metadata of those of the objects that exist: a few one by one, many by lists. Another object of the same name is none of them. */
export async function readPresent(
  client: RestClient,
  refs: readonly ObjectReference[],
  signal: AbortSignal | undefined,
): Promise<PresentObject[]> {
  const groups = grouped(refs, ({ apiVersion, resource, namespace }) => `${apiVersion}/${resource}/${namespace ?? ''}`);
  const found = await Promise.all([...groups.values()].map((group) => inCollection(client, group, signal)));
  return found.flat();
}

async function inCollection(
  client: RestClient,
  refs: readonly ObjectReference[],
  signal: AbortSignal | undefined,
): Promise<PresentObject[]> {
  const [{ apiVersion, resource, namespace }] = refs as readonly [ObjectReference];
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const collection = { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) };
  const signalled = signal === undefined ? {} : { signal };
  const wanted = new Map(refs.map((ref) => [ref.uid, ref]));
  const found: PresentObject[] = [];
  const note = (metadata: ObjectMeta = {}): void => {
    const ref = wanted.get(metadata.uid ?? '');
    if (ref !== undefined) found.push({ ref, metadata });
  };
  try {
    if (refs.length <= ONE_BY_ONE) {
      for (const { name } of refs) {
        await client.get<KubeObject>({ ...collection, name }, { accept: ACCEPT_METADATA_JSON, ...signalled }).then(
          ({ metadata }) => note(metadata),
          (error: unknown) => {
            if (!isNotFound(error)) throw error;
          },
        );
      }
      return found;
    }
    let token: string | undefined;
    do {
      const query = { limit: PAGE_SIZE, continue: token };
      const { items, metadata } = await client.list<KubeObject>(collection, {
        query,
        accept: ACCEPT_METADATA_LIST_JSON,
        ...signalled,
      });
      for (const item of items) note(item.metadata);
      token = metadata.continue === '' ? undefined : metadata.continue;
    } while (token !== undefined);
    return found;
  } catch (error) {
    // The definition of the kind is gone, and its objects with it.
    if (isNotFound(error)) return [];
    throw error;
  }
}
