import type { KubeObject } from '../../api/meta/object-meta.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Snapshot } from './snapshot.ts';

const PAGE_SIZE = 500;

/** One object by name, or those of a resource that a selector finds. */
export interface ObjectQuery {
  readonly resource: DiscoveredResource;
  /** Absent for cluster-scoped resources, and for all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  readonly selector?: string;
}

/**
 * The uids of the requested objects, one list for each query; empty if the snapshot has none. The server answers selectors, because the
 * graph has no labels. O(objects) for all names together.
 */
export async function findObjects(
  client: RestClient,
  snapshot: Snapshot,
  queries: readonly ObjectQuery[],
): Promise<string[][]> {
  const byName = named(snapshot, queries);
  return Promise.all(
    queries.map(async (query) => {
      if (query.name === undefined) return await selected(client, snapshot, query);
      const uid = byName.get(keyOf(query.resource, query.namespace ?? '', query.name));
      return uid === undefined ? [] : [uid];
    }),
  );
}

function named({ graph, catalogue }: Snapshot, queries: readonly ObjectQuery[]): Map<string, string> {
  const wanted = new Set(
    queries.flatMap(({ resource, namespace = '', name }) =>
      name === undefined ? [] : [keyOf(resource, namespace, name)],
    ),
  );
  const found = new Map<string, string>();
  if (wanted.size === 0) return found;
  const names = new Set(queries.map(({ name }) => name));
  graph.forEachNode((id) => {
    if (!graph.isObserved(id)) return;
    const { apiVersion, namespace, name, uid } = graph.identityAt(id);
    if (!names.has(name)) return;
    const resource = catalogue.at(apiVersion, graph.resourceAt(id) ?? '');
    if (resource === undefined) return;
    const key = keyOf(resource, namespace, name);
    if (wanted.has(key)) found.set(key, uid);
  });
  return found;
}

/** The key ignores the version, because a person may name another than the listed one. */
function keyOf({ group, resource }: DiscoveredResource, namespace: string, name: string): string {
  return `${group}/${resource} ${namespace}/${name}`;
}

async function selected(
  client: RestClient,
  { graph }: Snapshot,
  { resource: { group, version, resource }, namespace, selector }: ObjectQuery,
): Promise<string[]> {
  const found: string[] = [];
  let token: string | undefined;
  do {
    const { items, metadata } = await client.list<KubeObject>(
      { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) },
      { query: { labelSelector: selector, limit: PAGE_SIZE, continue: token }, accept: ACCEPT_METADATA_LIST_JSON },
    );
    for (const item of items) {
      const uid = item.metadata?.uid ?? '';
      if (graph.find(uid) >= 0) found.push(uid);
    }
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
  return found;
}
