import type { GroupKind, GroupVersionKind, GroupVersionResource } from './group-version-kind.ts';
import { parseGroupVersion } from './group-version-kind.ts';

/** One served kind and the path it is served under. */
export interface RestMapping extends GroupVersionKind {
  readonly resource: string;
  readonly namespaced: boolean;
  /** The verbs that discovery allows. */
  readonly verbs: readonly string[];
}

/**
 * Maps kinds, which owner references name, to resources, which paths name, and back. Immutable: each discovery creates a new mapper.
 *
 * When several resources of a version have one kind, the last one wins, as in client-go: `NewDiscoveryRESTMapper` (restmapper/discovery.go)
 * adds them in the order of discovery, and `DefaultRESTMapper.AddSpecific` (api/meta/restmapper.go) overwrites the earlier one. Unlike
 * client-go, a resource that can be read and deleted takes precedence: of OpenShift's `processedtemplates` and `templates` only the second
 * stores objects, and their order is not defined.
 */
export class RestMapper {
  readonly #byKind = new Map<string, RestMapping>();
  readonly #byResource = new Map<string, RestMapping>();
  readonly #byGroupKind = new Map<string, RestMapping[]>();
  /** Kinds for which several resources of one version store objects. Such kinds are very rare. */
  readonly kindsInSeveralResources: readonly GroupVersionKind[];

  constructor(mappings: Iterable<RestMapping>) {
    for (const mapping of mappings) {
      const { group, version, kind, resource } = mapping;
      const resourceKey = key(group, version, resource);
      if (!this.#byResource.has(resourceKey)) this.#byResource.set(resourceKey, mapping);
      const kindKey = key(group, version, kind);
      const before = this.#byKind.get(kindKey);
      if (before === undefined || isUsable(mapping) || !isUsable(before)) this.#byKind.set(kindKey, mapping);
      if (!mayHoldObjects(mapping)) continue;
      const others = this.#byGroupKind.get(key(group, kind));
      if (others === undefined) this.#byGroupKind.set(key(group, kind), [mapping]);
      else others.push(mapping);
    }
    this.kindsInSeveralResources = [...this.#byGroupKind.values()].flatMap((served) =>
      served.filter(({ version }, i) => served.slice(0, i).filter((other) => other.version === version).length === 1),
    );
  }

  /** The mapping of exactly this version (COL-117); undefined if it is not served or the apiVersion is malformed (COL-118). */
  forKind(apiVersion: string, kind: string): RestMapping | undefined {
    const gv = parseGroupVersion(apiVersion);
    return gv && this.#byKind.get(key(gv.group, gv.version, kind));
  }

  forResource({ group, version, resource }: GroupVersionResource): RestMapping | undefined {
    return this.#byResource.get(key(group, version, resource));
  }

  /** Every resource of the kind that may store objects, in all served versions, in the given order. */
  kindsInGroup({ group, kind }: GroupKind): RestMapping[] {
    return [...(this.#byGroupKind.get(key(group, kind)) ?? [])];
  }
}

/** True if objects of the resource can be listed and deleted, so that references to them make sense. */
function isUsable({ verbs }: RestMapping): boolean {
  return verbs.includes('get') && verbs.includes('delete');
}

/** A resource that can only be created answers without storing an object: `subjectaccessreviews`, OpenShift's `processedtemplates`. */
function mayHoldObjects({ verbs }: RestMapping): boolean {
  return verbs.some((verb) => verb !== 'create');
}

/** The separator is unambiguous, because groups, versions, kinds and resources are single path segments without a slash. */
function key(...parts: readonly string[]): string {
  return parts.join('/');
}
