import type { Target } from '../decide/target.ts';

/**
 * Remembers which resources do not take strategic merge patches. Custom resources answer 415 to every such patch; remembering it halves
 * their requests (BETTER-18). Bounded by the number of resources of the server. A resource that comes back under the same name is asked
 * again after {@link PatchSupport.forget}.
 */
export class PatchSupport {
  readonly #mergeOnly = new Set<string>();

  takesStrategic(target: Target): boolean {
    return !this.#mergeOnly.has(keyOf(target));
  }

  noteUnsupported(target: Target): void {
    this.#mergeOnly.add(keyOf(target));
  }

  /** Discovery changed: another resource may be served under the same name now. */
  forget(): void {
    this.#mergeOnly.clear();
  }
}

const keyOf = ({ apiVersion, resource }: Target): string => `${apiVersion}/${resource}`;
