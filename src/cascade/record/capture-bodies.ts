import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isNotFound } from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { grouped } from '../../base/collections/grouped.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { RecordError } from './record-error.ts';

/** Maximum number of objects of one resource and namespace that are read one by one; more are read by one paged list. */
const ONE_BY_ONE = 8;
const PAGE = 500;
/** Maximum number of pages of one list, so that an endless one is detected. */
const MAX_PAGES = 100_000;

/**
 * Reads the full body of every object, in any order. Rejects with a RecordError `changed` if one no longer exists with its uid, because the
 * plan is then outdated.
 */
export async function* captureBodies(
  client: RestClient,
  objects: Iterable<ObjectReference>,
  signal?: AbortNotice,
): AsyncGenerator<KubeObject> {
  for (const group of grouped(objects, collectionKey).values()) {
    if (group.length <= ONE_BY_ONE) {
      for (const object of group) yield await readOne(client, object, signal);
    } else yield* readMany(client, group, signal);
  }
}

/** One list for each resource and namespace. */
const collectionKey = ({ apiVersion, resource, namespace }: ObjectReference): string =>
  `${apiVersion}/${resource}/${namespace ?? ''}`;

async function readOne(client: RestClient, object: ObjectReference, signal?: AbortNotice): Promise<KubeObject> {
  try {
    const body = await client.get({ ...collectionRef(object), name: object.name }, { signal });
    if (body.metadata?.uid === object.uid) return body;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw changed([object]);
}

async function* readMany(
  client: RestClient,
  objects: readonly ObjectReference[],
  signal?: AbortNotice,
): AsyncGenerator<KubeObject> {
  const first = objects[0]!;
  const wanted = new Map(objects.map((object) => [object.uid, object]));
  let from: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, continue: from };
    const { items, metadata } = await client.list(collectionRef(first), { query, signal });
    for (const item of items) {
      if (!wanted.delete(item.metadata?.uid ?? '')) continue;
      yield { apiVersion: first.apiVersion, kind: first.kind, ...item };
    }
    from = metadata.continue === '' ? undefined : metadata.continue;
    if (from === undefined || wanted.size === 0) break;
  }
  if (wanted.size > 0) throw changed([...wanted.values()]);
}

function collectionRef({ apiVersion, resource, namespace }: ObjectReference): ResourceRef {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  return { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) };
}

function changed(objects: readonly ObjectReference[]): RecordError {
  const { resource, namespace, name } = objects[0]!;
  const more = objects.length === 1 ? '' : ` and ${objects.length - 1} more objects`;
  return new RecordError(
    'changed',
    `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}${more} changed since the plan was made`,
    'Nothing was deleted. Make the plan again.',
  );
}
