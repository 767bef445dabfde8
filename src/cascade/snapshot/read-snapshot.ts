import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import { PROTECT } from '../../api/meta/annotations.ts';
import { isForbidden, isGone, StatusError } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { ACCEPT_METADATA_LIST } from '../../client/codec/accept.ts';
import { discover, type DiscoveredResource } from '../../client/discovery/discovery.ts';
import { listDecoder } from '../../client/codec/list-decoder.ts';
import { pathOf } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { headerOf } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import { apply } from '../../collector/graph/apply.ts';
import { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { Effect } from '../../collector/graph/effect.ts';
import type { IncompleteResource } from '../documents/document.ts';
import { creationOf } from './kept-metadata.ts';
import { ResourceCatalogue, resourceName } from './resource-catalogue.ts';
import { Snapshot } from './snapshot.ts';

const PAGE_SIZE = 500;
/** Maximum number of concurrent lists. */
const PARALLEL = 16;
/** Maximum number of restarts of a list whose pages expired. */
const MAX_RESTARTS = 1;

export interface ReadSnapshotOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  /** `ages` also keeps the creation times; `protections` the metadata of objects with the guard's annotations. */
  readonly detail?: 'ages' | 'protections';
  /** The resources to read; by default those of discovery. */
  readonly catalogue?: ResourceCatalogue;
  /** The namespaces to read for each kind that the user may not list in all namespaces; none by default. */
  readonly namespaces?: readonly string[];
}

/**
 * Lists the metadata of every deletable resource into a graph, in parallel and page by page (CAS-001). A resource that cannot be listed is
 * named in `incomplete` and does not fail the rest (CAS-002). Rejects if discovery fails as a whole, if the server cannot be reached, and
 * if it refuses the credentials.
 */
export async function readSnapshot(options: ReadSnapshotOptions): Promise<Snapshot> {
  const { client, clock } = options;
  const readAt = clock.now();
  const catalogue = options.catalogue ?? new ResourceCatalogue(await discover(client));
  const reading = new Reading(options, catalogue);
  const inFlight = new Semaphore({ permits: PARALLEL });
  await Promise.all(catalogue.deletable.map((resource) => inFlight.use(() => reading.list(resource))));
  const { graph, kept, created, incomplete } = reading;
  const unread = [...catalogue.discovery.failedGroupVersions].map(([groupVersion, error]) => ({
    resource: groupVersion,
    reason: messageOf(error),
  }));
  incomplete.sort((a, b) => (a.resource < b.resource ? -1 : 1));
  return new Snapshot({
    graph,
    catalogue,
    kept,
    created,
    readAt,
    source: 'list',
    incomplete: [...unread, ...incomplete],
    readInNamespaces: reading.readInNamespaces,
    protectedUids: reading.protectedUids,
  });
}

/** Whether the bytes name {@link PROTECT}, or another annotation of the guard that begins with it. */
function namesProtection(bytes: Uint8Array, start: number, end: number): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(PROTECT);
}

/** The server cannot be reached, or refuses the credentials, so other lists would fail too. A timeout concerns one kind only. */
function isHopeless(error: unknown): boolean {
  if (error instanceof TransportError) return error.code !== 'timeout';
  return error instanceof StatusError && error.code === 401;
}

class Reading {
  readonly graph = new OwnershipGraph();
  readonly kept = new Map<string, Uint8Array>();
  readonly created: number[] = [];
  readonly incomplete: IncompleteResource[] = [];
  readonly readInNamespaces = new Set<string>();
  readonly protectedUids: string[] = [];
  readonly #options: ReadSnapshotOptions;
  readonly #catalogue: ResourceCatalogue;
  readonly #reader = new MetadataReader();

  constructor(options: ReadSnapshotOptions, catalogue: ResourceCatalogue) {
    this.#options = options;
    this.#catalogue = catalogue;
  }

  async list(resource: DiscoveredResource): Promise<void> {
    const { namespaces = [] } = this.#options;
    const name = resourceName(resource);
    try {
      await this.#pages(resource);
    } catch (error) {
      if (isHopeless(error)) throw error;
      if (!isForbidden(error)) {
        this.incomplete.push({ resource: name, reason: messageOf(error) });
      } else if (resource.namespaced && namespaces.length > 0 && (await this.#readIn(resource, namespaces))) {
        this.readInNamespaces.add(name);
        const where = namespaces.length === 1 ? `namespace ${namespaces[0]}` : `namespaces ${namespaces.join(', ')}`;
        this.incomplete.push({ resource: name, reason: `you may list it in ${where}, and not in all namespaces` });
      } else {
        // The words are the same for all kinds, so that one warning covers them.
        this.incomplete.push({ resource: name, reason: 'you have no right to list it' });
      }
    }
  }

  /** True if a kind may be listed in each of the namespaces. */
  async #readIn(resource: DiscoveredResource, namespaces: readonly string[]): Promise<boolean> {
    try {
      for (const namespace of namespaces) await this.#pages(resource, namespace);
      return true;
    } catch (error) {
      if (isHopeless(error)) throw error;
      return false;
    }
  }

  /** The stored objects bound the loop. A list with an expired token is restarted without pages. */
  async #pages(resource: DiscoveredResource, namespace?: string): Promise<void> {
    let token = '';
    let limit: number | undefined = PAGE_SIZE;
    let restarts = 0;
    for (;;) {
      try {
        token = await this.#page(resource, namespace, { limit, continue: token === '' ? undefined : token });
        if (token === '') return;
      } catch (error) {
        if (!isGone(error) || restarts >= MAX_RESTARTS) throw error;
        restarts++;
        token = '';
        limit = undefined;
      }
    }
  }

  /** Reads one page. Returns the token of the next; empty on the last. */
  async #page(
    resource: DiscoveredResource,
    namespace: string | undefined,
    query: { readonly limit: number | undefined; readonly continue: string | undefined },
  ): Promise<string> {
    const { client } = this.#options;
    const { group, version, resource: plural } = resource;
    const { headers, body } = await client.stream({
      method: 'GET',
      path: pathOf({
        gvr: { group, version, resource: plural },
        ...(namespace === undefined ? {} : { namespace }),
      }),
      query,
      accept: ACCEPT_METADATA_LIST,
    });
    const monitored = this.#catalogue.monitored(resource);
    const decoder = listDecoder(headerOf(headers, 'content-type'), (bytes, start, end) =>
      this.#item(monitored, bytes, start, end),
    );
    for await (const chunk of body) decoder.push(chunk);
    return decoder.end().continue;
  }

  #item(resource: ReturnType<ResourceCatalogue['monitored']>, bytes: Uint8Array, start: number, end: number): void {
    const columns = this.#reader;
    if (!columns.read(bytes, start, end)) return;
    // Effects are ignored, because nothing is decided during the read.
    const effects: Effect[] = [];
    apply(this.graph, { type: 'observedColumns', resource, columns }, effects);
    const isOrdinary =
      !columns.deleting &&
      !columns.otherFinalizers &&
      !columns.foregroundFinalizer &&
      !columns.orphanFinalizer &&
      !Number.isNaN(columns.resourceVersion);
    const { detail } = this.#options;
    const isProtected = detail === 'protections' && namesProtection(bytes, start, end);
    if (isOrdinary && detail !== 'ages' && !isProtected) return;
    const uid = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + columns.uidStart,
      columns.uidEnd - columns.uidStart,
    ).toString('utf8');
    if (!isOrdinary || isProtected) this.kept.set(uid, bytes.slice(start, end));
    if (isProtected) this.protectedUids.push(uid);
    if (detail === 'ages') this.created[this.graph.find(uid)] = creationOf(bytes, start, end);
  }
}
