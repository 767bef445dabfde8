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

/** Makes the name only of objects whose resource is wanted, because a cluster may have a million others. */
function named(snapshot: Snapshot, queries: readonly ObjectQuery[]): Map<string, string> {
  const { graph, catalogue } = snapshot;
  const byName = queries.filter(({ name }) => name !== undefined);
  const found = new Map<string, string>();
  if (byName.length === 0) return found;
  const wanted = new Set(byName.map(({ resource, namespace = '', name = '' }) => keyOf(resource, namespace, name)));
  const names = new Set(byName.map(({ name }) => name));
  const resources = new Set(byName.map(({ resource: { group, resource } }) => catalogue.ofGroup(group, resource)));
  graph.forEachNode((id) => {
    if (!graph.isObserved(id)) return;
    const resource = snapshot.resourceOf(id);
    if (resource === undefined || !resources.has(resource)) return;
    const name = graph.nameAt(id);
    if (!names.has(name)) return;
    const key = keyOf(resource, graph.namespaceAt(id), name);
    if (wanted.has(key)) found.set(key, graph.uidAt(id));
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
