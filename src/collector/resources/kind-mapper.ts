import { apiVersionOf, type GroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { RestMapper, RestMapping } from '../../api/meta/rest-mapper.ts';
import type { KindMapping } from '../decide/target.ts';

/**
 * What becomes of a reference in a version that is not served: it can not be resolved, as in Kubernetes (COL-118), or its owner is
 * looked for, by uid, in a version that is (BETTER-12).
 */
export type UnservedVersions = 'unresolved' | 'otherVersion';

/** Kinds that moved to another group with their objects: the group they left, and where they may be now. */
const MOVED_FROM: ReadonlyMap<string, readonly string[]> = new Map([
  ['extensions', ['apps', 'networking.k8s.io', 'policy']],
]);

/** Kinds asked for in vain that are remembered; with more of them, new ones wait for the next regular pass. */
const MAX_UNKNOWN = 1000;
/** Kinds that several resources have, or had at a time, that are remembered; of more, only those that several have now. */
const MAX_SPREAD = 1000;

/**
 * From the kind that a reference names to the resource that calls are made on, in exactly the version it names
 * (COL-117), unless told otherwise. The mapper behind it is replaced after each discovery (COL-029).
 */
export class KindMapper {
  #mapper: RestMapper;
  readonly #onUnknown: () => void;
  readonly #unserved: UnservedVersions;
  /** apiVersion and kind of look-ups that found nothing. Each is told once, or its retries would keep discovery busy. */
  readonly #unknown = new Map<string, { readonly apiVersion: string; readonly kind: string }>();
  /**
   * Kinds that several resources have, or had at a time. One that discovery does not offer any more may still have its objects, and who
   * refers to them names the kind alone.
   */
  #spread: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;

  /** `onUnknown` is told of a kind that is asked for the first time and not known, so that discovery can be read again soon. */
  constructor(mapper: RestMapper, onUnknown: () => void, unserved: UnservedVersions = 'unresolved') {
    this.#mapper = mapper;
    this.#onUnknown = onUnknown;
    this.#unserved = unserved;
    this.#rememberSpread();
  }

  /** How many kinds were asked for in vain and are still not served. */
  get unknown(): number {
    return this.#unknown.size;
  }

  /** When the pass of discovery began that this mapper rests on; monotonic, ms. */
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

  /** `resource`: the plural of the one that the object was seen in; undefined: it is only known by its kind. */
  mapping(apiVersion: string, kind: string, resource?: string): KindMapping | undefined {
    const found = this.#find(apiVersion, kind, resource);
    if (found === undefined) {
      if (resource === undefined || !this.knows(apiVersion, kind)) this.#noteUnknown(apiVersion, kind);
      return undefined;
    }
    const mapping = { apiVersion: apiVersionOf(found), resource: found.resource, namespaced: found.namespaced };
    return resource === undefined && this.#isSpread(found) ? { ...mapping, alsoElsewhere: true } : mapping;
  }

  /** Whether the mapper has the kind, without telling anybody that it is asked for. */
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
      // Two resources of one kind are two sets of objects: absence from one of them would prove nothing.
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
