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
 * From kinds, as owner references name them, to resources, as paths name them, and back. Immutable: discovery makes a new one.
 * When several resources of a version have one kind, the last given wins, as in client-go: `NewDiscoveryRESTMapper`
 * (restmapper/discovery.go) goes through them in the order of discovery, and `DefaultRESTMapper.AddSpecific` (api/meta/restmapper.go) writes
 * over what it had of the kind. Unlike there one that can be read and deleted from goes before one that cannot: of
 * OpenShift's `processedtemplates` and `templates` only the second keeps objects, and nothing is said about which is named last.
 */
export class RestMapper {
  readonly #byKind = new Map<string, RestMapping>();
  readonly #byResource = new Map<string, RestMapping>();
  readonly #byGroupKind = new Map<string, RestMapping[]>();
  /** Kinds of a version that objects of several resources have. Hardly ever any. */
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

  /** Exactly this version (COL-117); undefined if it is not served or the apiVersion does not parse (COL-118). */
  forKind(apiVersion: string, kind: string): RestMapping | undefined {
    const gv = parseGroupVersion(apiVersion);
    return gv && this.#byKind.get(key(gv.group, gv.version, kind));
  }

  forResource({ group, version, resource }: GroupVersionResource): RestMapping | undefined {
    return this.#byResource.get(key(group, version, resource));
  }

  /** Every resource of the kind that may hold objects, in all served versions, in the order given; empty if there is none. */
  kindsInGroup({ group, kind }: GroupKind): RestMapping[] {
    return [...(this.#byGroupKind.get(key(group, kind)) ?? [])];
  }
}

/** An object of it can be looked for, and be deleted: what references are about. */
function isUsable({ verbs }: RestMapping): boolean {
  return verbs.includes('get') && verbs.includes('delete');
}

/** A resource that can only be created is an answer that is not stored: `subjectaccessreviews`, OpenShift's `processedtemplates`. */
function mayHoldObjects({ verbs }: RestMapping): boolean {
  return verbs.some((verb) => verb !== 'create');
}

/** No part contains a slash but for none: groups, versions, kinds and resources are all single path segments. */
function key(...parts: readonly string[]): string {
  return parts.join('/');
}
