import type { Target } from '../decide/target.ts';

/**
 * Which resources do not take strategic merge patches. Custom resources answer 415 to them, every time; remembering it
 * halves their requests (BETTER-18). Bounded by the number of resources the server has; a resource that comes back under
 * the same name is asked again after {@link PatchSupport.forget}.
 */
export class PatchSupport {
  readonly #mergeOnly = new Set<string>();

  takesStrategic(target: Target): boolean {
    return !this.#mergeOnly.has(keyOf(target));
  }

  noteUnsupported(target: Target): void {
    this.#mergeOnly.add(keyOf(target));
  }

  /** Discovery changed: what is served under a name may be something else now. */
  forget(): void {
    this.#mergeOnly.clear();
  }
}

const keyOf = ({ apiVersion, resource }: Target): string => `${apiVersion}/${resource}`;
