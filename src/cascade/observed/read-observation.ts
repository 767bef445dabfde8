import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { StatusError } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import { grouped } from '../../base/collections/grouped.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { TransportError } from '../../client/http/transport.ts';
import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { IncompleteResource } from '../documents/document.ts';
import type { Observation, ObservedKind, ObservedObject } from './observed-object.ts';

export interface ObservationOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly discovery: DiscoveryResult;
  /** Reads this namespace and cluster-scoped kinds; if absent, everything. */
  readonly namespace?: string;
  /** The namespace in which namespaced kinds are read if they may not be listed in all. */
  readonly fallbackNamespace?: string;
}

const AS_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const PAGE = 500;
/** Maximum number of pages of one list, so that an endless one is detected. */
const MAX_PAGES = 100_000;
/** Maximum number of concurrent lists. */
const PARALLEL = 16;
/** Events occur in thousands, own nothing and expire by themselves. */
const EVENTS: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events']);

/**
 * Lists the metadata of every deletable kind. A kind that cannot be listed is named in `incomplete` and does not fail the rest (CAS-002).
 * Rejects if the server cannot be reached or refuses the credentials.
 */
export async function readObservation(options: ObservationOptions): Promise<Observation> {
  const { clock, discovery, namespace } = options;
  const readAt = clock.now();
  const deletable = discovery.preferred.filter(
    ({ group, resource, verbs }) =>
      verbs.includes('list') && verbs.includes('delete') && !EVENTS.has(`${group}/${resource}`),
  );
  const objects: ObservedObject[] = [];
  const unreadGroups = [...discovery.failedGroupVersions.keys()];
  const incomplete: IncompleteResource[] = [...discovery.failedGroupVersions].map(([resource, error]) => ({
    resource,
    reason: messageOf(error),
  }));
  const parallel = new Semaphore({ permits: PARALLEL });
  await Promise.all(
    deletable.map((resource) =>
      parallel.use(async () => {
        const reason = await readInto(objects, resource, options);
        if (reason !== undefined) incomplete.push({ resource: resourceName(resource), reason });
      }),
    ),
  );
  incomplete.sort((a, b) => (a.resource < b.resource ? -1 : 1));
  return {
    readAt,
    objects,
    ...kindsOf(discovery),
    unreadGroups,
    incomplete,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** The beginning of the reason of a kind that was read in only one namespace. */
export const READ_IN_ONE = 'you may list it in namespace';

/** Lists a kind, or its objects in the fallback namespace if listing all is forbidden. Resolves with the reason why it is incomplete. */
async function readInto(
  objects: ObservedObject[],
  resource: DiscoveredResource,
  options: ObservationOptions,
): Promise<string | undefined> {
  const { namespace, fallbackNamespace } = options;
  try {
    await listInto(objects, resource, options);
    return undefined;
  } catch (error) {
    if (error instanceof TransportError && error.code === 'timeout') return error.message;
    if (!(error instanceof StatusError) || error.code === 401) throw error;
    const { code, message } = error;
    if (code !== FORBIDDEN) return message;
    // The words are the same for all kinds, so that one warning covers them.
    if (namespace !== undefined || fallbackNamespace === undefined || !resource.namespaced) return NO_RIGHT;
    const { fallbackNamespace: _, ...rest } = options;
    const narrow = await readInto(objects, resource, { ...rest, namespace: fallbackNamespace });
    return narrow ?? `${READ_IN_ONE} ${fallbackNamespace}, and not in all namespaces`;
  }
}

const FORBIDDEN = 403;
const NO_RIGHT = 'you have no right to list it';

/** Kinds by exact apiVersion and kind, and by group and kind. */
export function kindsOf({ resources }: DiscoveryResult): Pick<Observation, 'kindOf' | 'versionsOf'> {
  const kinds = new Map<string, ObservedKind>();
  for (const each of resources) {
    const apiVersion = apiVersionOf(each);
    const { kind, resource, namespaced, verbs } = each;
    const key = `${apiVersion}/${kind}`;
    if (!kinds.has(key)) kinds.set(key, { apiVersion, kind, resource, namespaced, verbs });
  }
  const byGroup = grouped(kinds.values(), ({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`);
  return {
    kindOf: (apiVersion, kind) => kinds.get(`${apiVersion}/${kind}`),
    versionsOf: (apiVersion, kind) => byGroup.get(`${groupOf(apiVersion)}/${kind}`) ?? [],
  };
}

const groupOf = (apiVersion: string): string => parseGroupVersion(apiVersion)?.group ?? apiVersion;

async function listInto(
  objects: ObservedObject[],
  resource: DiscoveredResource,
  { client, namespace }: ObservationOptions,
): Promise<void> {
  const { group, version, resource: plural, kind, namespaced } = resource;
  const ref = {
    gvr: { group, version, resource: plural },
    ...(namespaced && namespace !== undefined ? { namespace } : {}),
  };
  let from: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, continue: from };
    const list = await client.list(ref, { accept: AS_METADATA_LIST, query });
    for (const item of list.items) objects.push(observed(item, { apiVersion: apiVersionOf(resource), kind, plural }));
    from = list.metadata.continue;
    if (from === undefined || from === '') return;
  }
}

function observed(
  { metadata = {} }: KubeObject,
  { apiVersion, kind, plural }: { readonly apiVersion: string; readonly kind: string; readonly plural: string },
): ObservedObject {
  const { namespace, name = '', uid = '', resourceVersion } = metadata;
  const ref = {
    apiVersion,
    kind,
    resource: plural,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return { ref, metadata };
}

const resourceName = ({ group, resource }: DiscoveredResource): string =>
  group === '' ? resource : `${resource}.${group}`;
