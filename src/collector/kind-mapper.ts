import type { RestMapper } from '../api/meta/rest-mapper.ts';
import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import type { KindMapping } from './decide/target.ts';

/**
 * From the kind that a reference names to the resource that calls are made on, in exactly the version it names
 * (COL-117). The mapper behind it is replaced after each discovery (COL-029).
 */
export class KindMapper {
  #mapper: RestMapper;
  readonly #onUnknown: () => void;

  /** `onUnknown` is told of look-ups that found nothing, so that discovery can be read again soon. */
  constructor(mapper: RestMapper, onUnknown: () => void) {
    this.#mapper = mapper;
    this.#onUnknown = onUnknown;
  }

  replace(mapper: RestMapper): void {
    this.#mapper = mapper;
  }

  mapping(apiVersion: string, kind: string): KindMapping | undefined {
    const found = this.#mapper.forKind(apiVersion, kind);
    if (!found) {
      this.#onUnknown();
      return undefined;
    }
    return { apiVersion: apiVersionOf(found), resource: found.resource, namespaced: found.namespaced };
  }
}
