import {
  apiVersionOf,
  type GroupVersion,
  type GroupVersionResource,
  parseGroupVersion,
} from '../../api/meta/group-version-kind.ts';
import { isForbidden, isNotFound } from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { append } from '../../base/collections/append.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { asError } from '../../base/errors/thrown.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { elementsOf, objectIn, textIn, textsIn } from '../codec/decode-list.ts';
import type { RestClient } from '../rest/rest-client.ts';
import { headerOf } from '../codec/status-decoder.ts';

/** A resource in one version that serves it. Subresources are listed at their parent. */
export interface DiscoveredResource extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** `status`, `scale`, … */
  readonly subresources: readonly string[];
}

export interface DiscoveredGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** In the server's order. */
  readonly versions: readonly string[];
  readonly preferredVersion: string;
}

export interface DiscoveryResult {
  readonly groups: readonly DiscoveredGroup[];
  /** All resources in all versions. */
  readonly resources: readonly DiscoveredResource[];
  /** Each resource once, in its preferred version (COL-010). */
  readonly preferred: readonly DiscoveredResource[];
  /** Group versions (`apps/v1`) that exist but could not be read, so their resources are unknown. */
  readonly failedGroupVersions: ReadonlyMap<string, Error>;
  /** Resources without a kind, as `group/version resource`. No reference can name their objects. */
  readonly withoutKind: readonly string[];
}

export interface DiscoveryOptions {
  readonly signal?: AbortNotice | undefined;
  /** Timeout of each request; 32 s in client-go. */
  readonly timeoutMs?: number;
}

const ACCEPT_AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const TIMEOUT_MS = 32_000;
/** Maximum number of concurrent requests for legacy documents. */
const PARALLEL = 10;

/**
 * Discovers the server's resources. Uses the two aggregated documents if the server offers them, otherwise one document for each group
 * version (API-390 to API-393). Rejects if the list of groups cannot be read.
 */
export function discover(client: RestClient, options: DiscoveryOptions = {}): Promise<DiscoveryResult> {
  return new RepeatedDiscovery(client).read(options);
}

/**
 * {@link discover} for a client that does so again and again. A document that the server says is unchanged is neither sent nor decoded
 * again (API-396). Between reads it holds what the last documents said.
 */
export class RepeatedDiscovery {
  readonly #client: RestClient;
  #roots: readonly (RootDocument | undefined)[] = [];
  #result: DiscoveryResult | undefined;

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** The same object as before if the server says that both documents are unchanged. Calls must not overlap. */
  async read(options: DiscoveryOptions = {}): Promise<DiscoveryResult> {
    const client = this.#client;
    const before = this.#roots;
    const roots = await Promise.all(
      (['/api', '/apis'] as const).map((path, index) => readRoot(client, path, { known: before[index], options })),
    );
    const isUnchanged = roots.every((root, index) => root !== undefined && root === before[index]);
    if (isUnchanged && this.#result !== undefined) return this.#result;
    const found = new Found();
    for (const root of roots) if (root !== undefined) found.add(root.found);
    await readLegacy(client, { found, options });
    this.#roots = roots;
    this.#result = found.result();
    return this.#result;
  }
}

/** The contents of `/api` or `/apis`. */
interface RootDocument {
  readonly found: Found;
  /** Present only for an aggregated document, because another one does not contain the resources. */
  readonly etag?: string;
}

/** Collects results in order: core first, then the groups as listed. */
class Found {
  readonly #core: DiscoveredGroup[] = [];
  readonly #named: DiscoveredGroup[] = [];
  readonly #resources = new Map<string, readonly DiscoveredResource[]>();
  readonly #failed = new Map<string, Error>();
  readonly #withoutKind: string[] = [];

  get groups(): readonly DiscoveredGroup[] {
    return [...this.#core, ...this.#named];
  }

  /** Group versions of the groups that are still unknown. */
  get missing(): string[] {
    const all = this.groups.flatMap(({ name, versions }) =>
      versions.map((version) => apiVersionOf({ group: name, version })),
    );
    return all.filter((groupVersion) => !this.#resources.has(groupVersion) && !this.#failed.has(groupVersion));
  }

  add(other: Found): void {
    append(this.#core, other.#core);
    append(this.#named, other.#named);
    for (const [groupVersion, resources] of other.#resources) this.#resources.set(groupVersion, resources);
    for (const [groupVersion, error] of other.#failed) this.#failed.set(groupVersion, error);
    append(this.#withoutKind, other.#withoutKind);
  }

  addGroup(group: DiscoveredGroup): void {
    (group.name === '' ? this.#core : this.#named).push(group);
  }

  addVersion(groupVersion: string, resources: readonly DiscoveredResource[]): void {
    this.#resources.set(groupVersion, resources);
  }

  skip(groupVersion: string, resource: string): void {
    this.#withoutKind.push(`${groupVersion} ${resource}`);
  }

  fail(groupVersion: string, error: Error): void {
    this.#failed.set(groupVersion, error);
  }

  result(): DiscoveryResult {
    const { groups } = this;
    const of = (group: string, version: string) => this.#resources.get(apiVersionOf({ group, version })) ?? [];
    return {
      groups,
      resources: groups.flatMap(({ name, versions }) => versions.flatMap((version) => of(name, version))),
      preferred: groups.flatMap((group) => preferredOf(group, (version) => of(group.name, version))),
      failedGroupVersions: this.#failed,
      withoutKind: this.#withoutKind,
    };
  }
}

/** Each name once, from the preferred version if it has it, otherwise from the first that does (COL-010). */
function preferredOf(
  { versions, preferredVersion }: DiscoveredGroup,
  resourcesOf: (version: string) => readonly DiscoveredResource[],
): DiscoveredResource[] {
  const chosen = new Map<string, DiscoveredResource>();
  for (const version of versions) {
    for (const resource of resourcesOf(version)) {
      if (!chosen.has(resource.resource) || version === preferredVersion) chosen.set(resource.resource, resource);
    }
  }
  return [...chosen.values()];
}

/** Undefined if the server does not have it. */
async function readRoot(
  client: RestClient,
  path: '/api' | '/apis',
  { known, options }: { readonly known: RootDocument | undefined; readonly options: DiscoveryOptions },
): Promise<RootDocument | undefined> {
  const headers = known?.etag === undefined ? {} : { 'if-none-match': known.etag };
  try {
    const response = await client.request({ ...request(path, options), accept: ACCEPT_AGGREGATED, headers });
    if (response.status === 304 && known?.etag !== undefined) return known;
    const document: unknown = response.json();
    const found = new Found();
    if (headerOf(response.headers, 'content-type')?.includes('as=APIGroupDiscoveryList') === true) {
      readAggregated(document, found);
      const etag = headerOf(response.headers, 'etag');
      return etag === undefined ? { found } : { found, etag };
    }
    if (path === '/api') readVersions(document, found);
    else readGroups(document, found);
    return { found };
  } catch (error) {
    // Some servers have only the core group, or only others (client-go tolerates both).
    if (!isNotFound(error) && !isForbidden(error)) throw error;
    return undefined;
  }
}

function request(path: string, { signal, timeoutMs = TIMEOUT_MS }: DiscoveryOptions) {
  return { method: 'GET', path, timeoutMs, ...(signal === undefined ? {} : { signal }) } as const;
}

interface AggregatedList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      /** `Stale` means that the extension server did not answer. */
      readonly freshness?: string;
      readonly resources?: readonly AggregatedResource[];
    }[];
  }[];
}

interface AggregatedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string } | null;
  readonly scope?: string;
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

function readAggregated(document: unknown, found: Found): void {
  const { items } = objectIn(document as AggregatedList, 'the aggregated discovery document');
  for (const item of elementsOf(items, 'items of the aggregated discovery document')) {
    const { metadata, versions: offered } = objectIn(item, 'an item of the aggregated discovery document');
    const group = textIn(metadata?.name, 'the name of a group');
    const versions = elementsOf(offered, `versions of the group ${group}`).map((each) => ({
      ...objectIn(each, `a version of the group ${group}`),
      version: textIn(each.version, `a version of the group ${group}`),
    }));
    if (versions.length === 0) continue;
    found.addGroup({ name: group, versions: versions.map((v) => v.version), preferredVersion: versions[0]!.version });
    for (const { version, freshness, resources } of versions) {
      const groupVersion = apiVersionOf({ group, version });
      try {
        if (freshness === 'Stale') throw new DecodeError(`stale GroupVersion discovery: ${groupVersion}`);
        readAggregatedVersion({ group, version }, elementsOf(resources, `resources of ${groupVersion}`), found);
      } catch (error) {
        found.fail(groupVersion, asError(error));
      }
    }
  }
}

function readAggregatedVersion(gv: GroupVersion, entries: readonly AggregatedResource[], found: Found): void {
  const groupVersion = apiVersionOf(gv);
  const resources = entries.map((entry) => {
    const r = objectIn(entry, `a resource of ${groupVersion}`);
    const resource = textIn(r.resource, `the name of a resource of ${groupVersion}`);
    const of = `of ${resource} in ${groupVersion}`;
    const subresources = elementsOf(r.subresources, `subresources ${of}`);
    return {
      ...gv,
      resource,
      kind: textIn(r.responseKind?.kind, `the kind ${of}`),
      namespaced: r.scope === 'Namespaced',
      verbs: textsIn(r.verbs, `verbs ${of}`),
      singular: textIn(r.singularResource, `the singular ${of}`),
      shortNames: textsIn(r.shortNames, `short names ${of}`),
      categories: textsIn(r.categories, `categories ${of}`),
      subresources: subresources.map((s) =>
        textIn(objectIn(s, `a subresource ${of}`).subresource, `a subresource ${of}`),
      ),
    };
  });
  const served = resources.filter(({ resource, kind, verbs }) => {
    // A resource without a kind and without verbs exists only for its subresources.
    if (kind === '' && verbs.length > 0) found.skip(groupVersion, resource);
    return kind !== '';
  });
  found.addVersion(groupVersion, served);
}

function readVersions(document: unknown, found: Found): void {
  const root = objectIn(document as { versions?: readonly string[] }, 'the document of /api');
  const versions = textsIn(root.versions, 'versions of /api');
  if (versions.length > 0) found.addGroup({ name: '', versions, preferredVersion: versions[0]! });
}

interface GroupList {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions?: readonly { readonly groupVersion: string; readonly version: string }[];
    readonly preferredVersion?: { readonly version?: string };
  }[];
}

function readGroups(document: unknown, found: Found): void {
  const { groups } = objectIn(document as GroupList, 'the document of /apis');
  for (const group of elementsOf(groups, 'groups of /apis')) {
    const { name: named, versions: offered, preferredVersion } = objectIn(group, 'a group of /apis');
    const name = textIn(named, 'the name of a group of /apis');
    const versions = elementsOf(offered, `versions of the group ${name}`).map((each) => {
      const { groupVersion, version } = objectIn(each, `a version of the group ${name}`);
      return {
        groupVersion: textIn(groupVersion, `a version of the group ${name}`),
        version: textIn(version, `a version of the group ${name}`),
      };
    });
    const good = versions.filter(({ groupVersion }) => {
      const parsed = parseGroupVersion(groupVersion);
      const sound = parsed !== undefined && parsed.group === name && parsed.version !== '';
      // A group version that does not parse is skipped, and the others are used (COL-013).
      if (!sound) found.fail(groupVersion, new DecodeError(`unexpected GroupVersion string: ${groupVersion}`));
      return sound;
    });
    if (good.length === 0) continue;
    const preferred = textIn(preferredVersion?.version, `the preferred version of the group ${name}`);
    found.addGroup({
      name,
      versions: good.map((v) => v.version),
      preferredVersion: preferred === '' ? good[0]!.version : preferred,
    });
  }
}

/** Reads one document for each group version. A failure concerns only that one (API-562). */
async function readLegacy(
  client: RestClient,
  { found, options }: { readonly found: Found; readonly options: DiscoveryOptions },
): Promise<void> {
  const parallel = new Semaphore({ permits: PARALLEL });
  await Promise.all(
    found.missing.map((groupVersion) =>
      parallel.use(async () => {
        const path = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
        try {
          const response = await client.request(request(path, options));
          const document = objectIn(response.json() as ResourceList, `the discovery document of ${groupVersion}`);
          const entries = resourcesIn(groupVersion, document);
          found.addVersion(groupVersion, resourcesOf(groupVersion, entries));
          for (const { name, kind, verbs } of entries) {
            if (kind === '' && !name.includes('/') && verbs.length > 0) found.skip(groupVersion, name);
          }
        } catch (error) {
          found.fail(groupVersion, asError(error));
        }
      }),
    ),
  );
}

interface ResourceList {
  readonly groupVersion?: string;
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced?: boolean;
    readonly kind?: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

function resourcesOf(groupVersion: string, entries: ReturnType<typeof resourcesIn>): DiscoveredResource[] {
  const parsed = parseGroupVersion(groupVersion);
  if (parsed === undefined) throw new DecodeError(`unexpected GroupVersion string: ${groupVersion}`);
  // Leaves out subresources such as `pods/status` (COL-011).
  return entries
    .filter(({ name, kind }) => !name.includes('/') && kind !== '')
    .map((entry) => ({
      ...parsed,
      resource: entry.name,
      kind: entry.kind,
      namespaced: entry.namespaced,
      verbs: entry.verbs,
      singular: entry.singularName,
      shortNames: entry.shortNames,
      categories: entry.categories,
      subresources: entries.flatMap(({ name }) =>
        name.startsWith(`${entry.name}/`) ? [name.slice(entry.name.length + 1)] : [],
      ),
    }));
}

function resourcesIn(groupVersion: string, { resources }: ResourceList) {
  return elementsOf(resources, `resources of ${groupVersion}`).map((each) => {
    const entry = objectIn(each, `a resource of ${groupVersion}`);
    const name = textIn(entry.name, `the name of a resource of ${groupVersion}`);
    const of = `of ${name} in ${groupVersion}`;
    return {
      name,
      kind: textIn(entry.kind, `the kind ${of}`),
      namespaced: entry.namespaced === true,
      singularName: textIn(entry.singularName, `the singular ${of}`),
      verbs: textsIn(entry.verbs, `verbs ${of}`),
      shortNames: textsIn(entry.shortNames, `short names ${of}`),
      categories: textsIn(entry.categories, `categories ${of}`),
    };
  });
}
