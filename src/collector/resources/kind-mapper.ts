import { apiVersionOf, type GroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { RestMapper, RestMapping } from '../../api/meta/rest-mapper.ts';
import type { KindMapping } from '../decide/target.ts';

/**
 * The treatment of a reference in a version that is not served. Either it cannot be resolved, as in Kubernetes (COL-118), or its owner is
 * searched by uid in a version that is served (BETTER-12).
 */
export type UnservedVersions = 'unresolved' | 'otherVersion';

/** Kinds that moved to another group with their objects: the group they left, and where they may be now. */
const MOVED_FROM: ReadonlyMap<string, readonly string[]> = new Map([
  ['extensions', ['apps', 'networking.k8s.io', 'policy']],
]);

/** Maximum number of unknown kinds that are remembered. Beyond it, a new one waits for the next regular pass. */
const MAX_UNKNOWN = 1000;
/**
 * Maximum number of kinds that are remembered because several resources have or had them. Beyond it, only kinds that several resources have
 * now are remembered.
 */
const MAX_SPREAD = 1000;

/**
 * Maps the kind that a reference names to the resource for API calls, in exactly the version that the reference names (COL-117), unless
 * configured otherwise. Each discovery replaces the underlying mapper (COL-029).
 */
export class KindMapper {
  #mapper: RestMapper;
  readonly #onUnknown: () => void;
  readonly #unserved: UnservedVersions;
  /** apiVersion and kind of lookups that found nothing. Each is reported once; otherwise its retries would keep discovery busy. */
  readonly #unknown = new Map<string, { readonly apiVersion: string; readonly kind: string }>();
  /**
   * Kinds that several resources have or had. A resource that discovery no longer offers may still have objects, and references to them
   * name only the kind.
   */
  #spread: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;

  /** `onUnknown` is called when an unknown kind is requested for the first time, so that discovery can be read again soon. */
  constructor(mapper: RestMapper, onUnknown: () => void, unserved: UnservedVersions = 'unresolved') {
    this.#mapper = mapper;
    this.#onUnknown = onUnknown;
    this.#unserved = unserved;
    this.#rememberSpread();
  }

  /** The number of kinds that were requested and are still not served. */
  get unknown(): number {
    return this.#unknown.size;
  }

  /** The time when the discovery pass behind this mapper began; monotonic, ms. */
  get readAt(): number {
    return this.#readAt;
  }

  /** `readAt`: see {@link KindMapper.readAt}. */
  replace(mapper: RestMapper, readAt = Number.NEGATIVE_INFINITY): void {
    this.#mapper = mapper;
    this.#readAt = readAt;
    this.#rememberSpread();
    for (const [key, { apiVersion, kind }] of this.#unknown) {
      if (this.#find(apiVersion, kind) !== undefined) this.#unknown.delete(key);
    }
  }

  /** A pass that began at `readAt` found what the mapper says already. */
  confirm(readAt: number): void {
    this.#readAt = readAt;
  }

  /** `resource`: the plural of the resource in which the object was seen; undefined if only its kind is known. */
  mapping(apiVersion: string, kind: string, resource?: string): KindMapping | undefined {
    const found = this.#find(apiVersion, kind, resource);
    if (found === undefined) {
      if (resource === undefined || !this.knows(apiVersion, kind)) this.#noteUnknown(apiVersion, kind);
      return undefined;
    }
    const mapping = { apiVersion: apiVersionOf(found), resource: found.resource, namespaced: found.namespaced };
    return resource === undefined && this.#isSpread(found) ? { ...mapping, alsoElsewhere: true } : mapping;
  }

  /** Whether the mapper knows the kind. Does not report an unknown kind, unlike `mapping`. */
  knows(apiVersion: string, kind: string): boolean {
    return this.#find(apiVersion, kind) !== undefined;
  }

  #find(apiVersion: string, kind: string, resource?: string): RestMapping | undefined {
    const served =
      resource === undefined ? this.#mapper.forKind(apiVersion, kind) : this.#inResource(apiVersion, kind, resource);
    if (served !== undefined || this.#unserved === 'unresolved') return served;
    const group = parseGroupVersion(apiVersion)?.group;
    if (group === undefined) return undefined;
    for (const each of [group, ...(MOVED_FROM.get(group) ?? [])]) {
      const versions = this.#mapper
        .kindsInGroup({ group: each, kind })
        .filter((served) => resource === undefined || served.resource === resource);
      const [first] = versions;
      // Two resources of one kind have separate objects: absence from one of them would prove nothing.
      if (first !== undefined && versions.every(({ resource }) => resource === first.resource)) return first;
    }
    return undefined;
  }

  #inResource(apiVersion: string, kind: string, resource: string): RestMapping | undefined {
    const gv = parseGroupVersion(apiVersion);
    const served = gv && this.#mapper.forResource({ ...gv, resource });
    return served?.kind === kind ? served : undefined;
  }

  #rememberSpread(): void {
    const now = new Set(this.#mapper.kindsInSeveralResources.map(keyOf));
    this.#spread = new Set([...now, ...this.#spread].slice(0, Math.max(now.size, MAX_SPREAD)));
  }

  #isSpread(served: RestMapping): boolean {
    return this.#spread.size > 0 && this.#spread.has(keyOf(served));
  }

  #noteUnknown(apiVersion: string, kind: string): void {
    const key = `${apiVersion} ${kind}`;
    if (this.#unknown.has(key) || this.#unknown.size >= MAX_UNKNOWN) return;
    this.#unknown.set(key, { apiVersion, kind });
    this.#onUnknown();
  }
}

function keyOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version} ${kind}`;
}
