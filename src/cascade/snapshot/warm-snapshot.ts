import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isNotFound } from '../../api/status-error.ts';
import { grouped } from '../../base/collections/grouped.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { DiscoveredResource } from '../../client/discovery/discovery.ts';
import { ACCEPT_METADATA_JSON, ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { ResourceCatalogue } from './resource-catalogue.ts';
import { Snapshot } from './snapshot.ts';

/** Maximum number of objects of one resource that are read one by one; more are read with one paged list. */
const ONE_BY_ONE = 20;
const PAGE_SIZE = 500;
/** Maximum number of concurrent requests. */
const PARALLEL = 16;

export interface WarmSnapshotOptions {
  readonly client: RestClient;
  readonly catalogue: ResourceCatalogue;
  /** The collector's graph; it is copied before the first await. */
  readonly graph: OwnershipGraph;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A snapshot from the graph of a running collector, without a list (CAS-003). The graph keeps no names of finalizers and no deletion times;
 * the metadata of the few objects that have them are read.
 */
export async function warmSnapshot({ client, catalogue, graph: live, now }: WarmSnapshotOptions): Promise<Snapshot> {
  const graph = live.clone();
  const kept = new Map<string, Uint8Array>();
  const inFlight = new Semaphore({ permits: PARALLEL });
  const keep = (object: KubeObject): void => {
    const { metadata } = object;
    if (metadata?.uid !== undefined) kept.set(metadata.uid, Buffer.from(stringifyExactJson({ metadata })));
  };
  await Promise.all(
    [...extraordinary(graph, catalogue)].map(([resource, ids]) =>
      inFlight.use(() => readMetadata(client, { resource, ids, graph, keep })),
    ),
  );
  return new Snapshot({ graph, catalogue, kept, created: [], readAt: now, source: 'warm', incomplete: [] });
}

/** Objects that need more fields than the graph keeps, by resource. */
function extraordinary(graph: OwnershipGraph, catalogue: ResourceCatalogue): Map<DiscoveredResource, NodeId[]> {
  const found: NodeId[] = [];
  graph.forEachNode((id) => {
    if (graph.isObserved(id) && !graph.isPlain(id)) found.push(id);
  });
  const resourceOf = (id: NodeId): DiscoveredResource | undefined => catalogue.ofNode(graph, id);
  const known = found.filter((id) => resourceOf(id) !== undefined);
  const byName = grouped(known, (id) => {
    const resource = resourceOf(id)!;
    return `${apiVersionOf(resource)} ${resource.resource}`;
  });
  return new Map([...byName.values()].map((ids) => [resourceOf(ids[0]!)!, ids]));
}

interface MetadataRead {
  readonly resource: DiscoveredResource;
  readonly ids: readonly NodeId[];
  readonly graph: OwnershipGraph;
  readonly keep: (object: KubeObject) => void;
}

async function readMetadata(client: RestClient, { resource, ids, graph, keep }: MetadataRead): Promise<void> {
  const { group, version, resource: plural } = resource;
  const gvr = { group, version, resource: plural };
  if (ids.length <= ONE_BY_ONE) {
    for (const id of ids) {
      const { namespace, name } = graph.identityAt(id);
      const ref = { gvr, name, ...(namespace === '' ? {} : { namespace }) };
      try {
        keep(await client.get(ref, { accept: ACCEPT_METADATA_JSON }));
      } catch (error) {
        // The object was deleted after the graph was copied: only the graph's facts about it are left.
        if (!isNotFound(error)) throw error;
      }
    }
    return;
  }
  const wanted = new Set(ids.map((id) => graph.uidAt(id)));
  let token: string | undefined;
  do {
    const query = { limit: PAGE_SIZE, continue: token };
    const { items, metadata } = await client.list<KubeObject>({ gvr }, { query, accept: ACCEPT_METADATA_LIST_JSON });
    for (const item of items) if (wanted.has(item.metadata?.uid ?? '')) keep(item);
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
}
