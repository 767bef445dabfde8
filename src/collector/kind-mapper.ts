import type { RestMapper } from '../api/meta/rest-mapper.ts';
import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import type { KindMapping } from './decide/target.ts';

/** Kinds asked for in vain that are remembered; with more of them, new ones wait for the next regular pass. */
const MAX_UNKNOWN = 1000;

/**
 * From the kind that a reference names to the resource that calls are made on, in exactly the version it names
 * (COL-117). The mapper behind it is replaced after each discovery (COL-029).
 */
export class KindMapper {
  #mapper: RestMapper;
  readonly #onUnknown: () => void;
  /** apiVersion and kind of look-ups that found nothing. Each is told once, or its retries would keep discovery busy. */
  readonly #unknown = new Map<string, { readonly apiVersion: string; readonly kind: string }>();

  /** `onUnknown` is told of a kind that is asked for the first time and not known, so that discovery can be read again soon. */
  constructor(mapper: RestMapper, onUnknown: () => void) {
    this.#mapper = mapper;
    this.#onUnknown = onUnknown;
  }

  /** How many kinds were asked for in vain and are still not served. */
  get unknown(): number {
    return this.#unknown.size;
  }

  replace(mapper: RestMapper): void {
    this.#mapper = mapper;
    for (const [key, { apiVersion, kind }] of this.#unknown) {
      if (mapper.forKind(apiVersion, kind) !== undefined) this.#unknown.delete(key);
    }
  }

  mapping(apiVersion: string, kind: string): KindMapping | undefined {
    const found = this.#mapper.forKind(apiVersion, kind);
    if (found === undefined) {
      this.#noteUnknown(apiVersion, kind);
      return undefined;
    }
    return { apiVersion: apiVersionOf(found), resource: found.resource, namespaced: found.namespaced };
  }

  #noteUnknown(apiVersion: string, kind: string): void {
    const key = `${apiVersion} ${kind}`;
    if (this.#unknown.has(key) || this.#unknown.size >= MAX_UNKNOWN) return;
    this.#unknown.set(key, { apiVersion, kind });
    this.#onUnknown();
  }
}
