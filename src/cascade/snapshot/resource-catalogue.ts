import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { RestMapper, type RestMapping } from '../../api/meta/rest-mapper.ts';
import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { KindMapping } from '../../collector/decide/target.ts';
import type { Graph, NodeId } from '../../collector/graph/graph.ts';
import type { MonitoredResource } from '../../collector/types/event.ts';

/** Events occur in thousands, own nothing, and expire by themselves, so no cascade counts them (COL-203). */
const EVENTS: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events']);
const NEEDED_VERBS = ['list', 'delete'] as const;

/** The resources of a server with the facts that deletion needs. Immutable. */
export class ResourceCatalogue {
  /** Each deletable resource once, in its preferred version. */
  readonly deletable: readonly DiscoveredResource[];
  readonly discovery: DiscoveryResult;
  readonly #mapper: RestMapper;
  readonly #spread: ReadonlySet<string>;
  readonly #monitored = new Map<DiscoveredResource, MonitoredResource>();
  readonly #byPlace = new Map<string, Map<string, DiscoveredResource>>();
  /** Mappings by apiVersion, kind and plural. A simulation asks the same few questions for each object. */
  readonly #mappings = new Map<string, Map<string, Map<string | undefined, KindMapping>>>();

  constructor(discovery: DiscoveryResult) {
    this.discovery = discovery;
    this.#mapper = new RestMapper(discovery.resources);
    this.#spread = new Set(this.#mapper.kindsInSeveralResources.map((each) => `${apiVersionOf(each)} ${each.kind}`));
    this.deletable = discovery.preferred.filter(
      ({ group, resource, verbs }) =>
        NEEDED_VERBS.every((verb) => verbs.includes(verb)) && !EVENTS.has(`${group}/${resource}`),
    );
    for (const resource of this.deletable) {
      const { kind, resource: plural } = resource;
      const apiVersion = apiVersionOf(resource);
      this.#monitored.set(resource, { apiVersion, kind, resource: plural });
      within(this.#byPlace, apiVersion).set(plural, resource);
    }
  }

  /** Always returns the same object for one resource, because the graph identifies resources by it. */
  monitored(resource: DiscoveredResource): MonitoredResource {
    return this.#monitored.get(resource)!;
  }

  /** The deletable resource for this apiVersion and plural. */
  at(apiVersion: string, resource: string): DiscoveredResource | undefined {
    return this.#byPlace.get(apiVersion)?.get(resource);
  }

  /** The deletable resource in which an object of a graph was listed; undefined if it is known from references only. */
  ofNode(graph: Pick<Graph, 'resourceAt' | 'typeAt'>, id: NodeId): DiscoveredResource | undefined {
    const plural = graph.resourceAt(id);
    return plural === undefined ? undefined : this.at(graph.typeAt(id).apiVersion, plural);
  }

  /** The deletable resource of a group and plural, in any version. */
  ofGroup(group: string, resource: string): DiscoveredResource | undefined {
    return this.deletable.find((each) => each.group === group && each.resource === resource);
  }

  /**
   * The mapping of exactly this version of a kind (COL-117); undefined if the server does not serve it.
   * @param resource the plural that the object was seen in; undefined if only its kind is known
   */
  mapping(apiVersion: string, kind: string, resource?: string): KindMapping | undefined {
    const known = this.#mappings.get(apiVersion)?.get(kind)?.get(resource);
    if (known !== undefined) return known;
    const mapping = this.#map(apiVersion, kind, resource);
    // A kind that is not served is not kept, because references may name any number of invented kinds.
    if (mapping !== undefined) within(within(this.#mappings, apiVersion), kind).set(resource, mapping);
    return mapping;
  }

  #map(apiVersion: string, kind: string, resource: string | undefined): KindMapping | undefined {
    const found = resource === undefined ? undefined : this.#inResource(apiVersion, kind, resource);
    const served = found ?? this.#mapper.forKind(apiVersion, kind);
    if (served === undefined) return undefined;
    const { namespaced, resource: plural } = served;
    const mapping = { apiVersion: apiVersionOf(served), resource: plural, namespaced };
    const isElsewhereToo = found === undefined && this.#spread.has(`${apiVersion} ${kind}`);
    return isElsewhereToo ? { ...mapping, alsoElsewhere: true } : mapping;
  }

  /** True if the group version could not be read, so that its kinds are unknown. */
  isUnread(apiVersion: string): boolean {
    return this.discovery.failedGroupVersions.has(apiVersion);
  }

  #inResource(apiVersion: string, kind: string, resource: string): RestMapping | undefined {
    const groupVersion = parseGroupVersion(apiVersion);
    const served = groupVersion && this.#mapper.forResource({ ...groupVersion, resource });
    return served?.kind === kind ? served : undefined;
  }
}

/** The map under a key, which is made when it is first asked for. */
function within<K, V>(maps: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let found = maps.get(key);
  if (found === undefined) maps.set(key, (found = new Map()));
  return found;
}

/** `deployments.apps`, `pods`: a resource in documents and messages. */
export function resourceName({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return group === '' ? resource : `${resource}.${group}`;
}
