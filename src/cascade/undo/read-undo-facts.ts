import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { ACCOUNT_NAME } from '../../api/meta/token-secret.ts';
import { isNotFound } from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { grouped } from '../../base/collections/grouped.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { restoredFromUid } from './restored-from.ts';
import { coordinatesOf, type LiveObject, type ServedKind, type UndoFacts } from './undo-facts.ts';

const AS_METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const AS_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
/** Maximum number of objects of one resource and namespace that are read one by one; more are read by one paged list. */
const ONE_BY_ONE = 8;
const PAGE = 2000;
const MAX_PAGES = 100_000;
/** Maximum number of concurrent reads. */
const PARALLEL = 16;

export interface FactSources {
  readonly client: RestClient;
  readonly discovery: DiscoveryResult;
  readonly finalizerServed: (finalizer: string) => boolean;
  readonly signal?: AbortNotice;
}

/** Reads the facts for the plan of an undo from the cluster: only metadata, except for PersistentVolumes that claims name. */
export async function readUndoFacts(objects: readonly RecordedObject[], sources: FactSources): Promise<UndoFacts> {
  const served = servedKinds(sources.discovery);
  const live = await readLive(wantedPlaces(objects, served), sources);
  return { objects, live, served, finalizerServed: sources.finalizerServed };
}

/** The place of an object to read. */
export interface WantedPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The current objects at the places, by coordinates. Rejects if anything cannot be read, because an absence must be proved. */
export async function readLive(
  places: Iterable<WantedPlace>,
  { client, signal }: Pick<FactSources, 'client' | 'signal'>,
): Promise<Map<string, LiveObject>> {
  const live = new Map<string, LiveObject>();
  const parallel = new Semaphore({ permits: PARALLEL });
  const note = (place: WantedPlace, object: KubeObject): void => {
    live.set(coordinatesOf(place.apiVersion, place.kind, place.namespace, place.name), liveObjectOf(object));
  };
  const reads = [...grouped(places, collectionKey).values()].flatMap((group) => {
    const first = group[0]!;
    const isVolume = first.apiVersion === 'v1' && first.kind === 'PersistentVolume';
    if (group.length > ONE_BY_ONE && !isVolume) return [() => readCollection(client, { group, signal, note })];
    return group.map((place) => async () => {
      const accept = isVolume ? 'application/json' : AS_METADATA;
      const object = await orAbsent(client.get({ ...refOf(place), name: place.name }, { accept, signal }));
      if (object !== undefined) note(place, object);
    });
  });
  await Promise.all(reads.map((read) => parallel.use(read)));
  return live;
}

interface CollectionRead {
  readonly group: readonly WantedPlace[];
  readonly signal: AbortNotice | undefined;
  readonly note: (place: WantedPlace, object: KubeObject) => void;
}

async function readCollection(client: RestClient, { group, signal, note }: CollectionRead): Promise<void> {
  const wanted = new Map(group.map((place) => [place.name, place]));
  let from: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, continue: from };
    const list = await orAbsent(client.list(refOf(group[0]!), { accept: AS_METADATA_LIST, query, signal }));
    for (const item of list?.items ?? []) {
      const place = wanted.get(item.metadata?.name ?? '');
      if (place !== undefined) note(place, item);
    }
    from = list?.metadata.continue;
    if (from === undefined || from === '') return;
  }
}

function liveObjectOf({ metadata, spec }: KubeObject): LiveObject {
  const restoredFrom = restoredFromUid(metadata);
  const { claimRef } = (spec ?? {}) as { claimRef?: { namespace?: string; name?: string } };
  return {
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
    terminating: (metadata?.deletionTimestamp ?? undefined) !== undefined,
    ownerReferences: metadata?.ownerReferences ?? [],
    ...(restoredFrom === undefined ? {} : { restoredFromUid: restoredFrom }),
    ...(claimRef === undefined ? {} : { claim: `${claimRef.namespace}/${claimRef.name}` }),
  };
}

/** Recorded objects, their owners, and the volumes and accounts they name, each once. */
function wantedPlaces(
  objects: readonly RecordedObject[],
  served: (apiVersion: string, kind: string) => ServedKind | undefined,
): Iterable<WantedPlace> {
  const places = new Map<string, WantedPlace>();
  const want = (apiVersion: string, kind: string, namespace: string | undefined, name: string): void => {
    const as = served(apiVersion, kind);
    if (as === undefined || name === '') return;
    const within = as.namespaced ? namespace : undefined;
    const at = coordinatesOf(apiVersion, kind, within, name);
    if (!places.has(at)) places.set(at, { apiVersion, kind, resource: as.resource, namespace: within, name });
  };
  for (const { body } of objects) {
    const { apiVersion = '', kind = '', metadata } = body;
    want(apiVersion, kind, metadata?.namespace, metadata?.name ?? '');
    for (const owner of metadata?.ownerReferences ?? []) {
      want(owner.apiVersion, owner.kind, metadata?.namespace, owner.name);
    }
    const volume = (body['spec'] as { volumeName?: unknown } | undefined)?.volumeName;
    if (kind === 'PersistentVolumeClaim' && typeof volume === 'string')
      want('v1', 'PersistentVolume', undefined, volume);
    const account = metadata?.annotations?.[ACCOUNT_NAME];
    if (kind === 'Secret' && account !== undefined) want('v1', 'ServiceAccount', metadata?.namespace, account);
  }
  return places.values();
}

/** Kinds by apiVersion and kind, as discovery lists them. */
export function servedKinds({
  resources,
}: DiscoveryResult): (apiVersion: string, kind: string) => ServedKind | undefined {
  const kinds = new Map<string, ServedKind>();
  for (const { group, version, resource, kind, namespaced, verbs, subresources } of resources) {
    if (!verbs.includes('create') || !verbs.includes('get')) continue;
    kinds.set(`${group}/${version}/${kind}`, {
      resource,
      namespaced,
      statusSubresource: subresources.includes('status'),
      builtIn: isBuiltInGroup(group),
    });
  }
  return (apiVersion, kind) => {
    const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
    return kinds.get(`${group}/${version}/${kind}`);
  };
}

/**
 * True for groups with Kubernetes' own controllers: without a dot, or under `k8s.io`. Related projects with definitions use `x-k8s.io` or a
 * domain of their own; groups like `gateway.networking.k8s.io` are not in the server's table.
 */
export function isBuiltInGroup(group: string): boolean {
  return !group.includes('.') || BUILT_IN_GROUPS.has(group);
}

const BUILT_IN_GROUPS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
]);

function collectionKey({ apiVersion, resource, namespace }: WantedPlace): string {
  return `${apiVersion}/${resource}/${namespace ?? ''}`;
}

function refOf({ apiVersion, resource, namespace }: WantedPlace): ResourceRef {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  return { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) };
}

async function orAbsent<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
