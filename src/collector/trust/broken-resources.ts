import type { Breakage } from './outage-scope.ts';

/** Failures of two resources within this time are of the server and not of each kind, ms. */
const TOGETHER_MS = 10_000;
const ENOUGH = 2;

/**
 * Distinguishes an outage of the server from a kind that fails by itself: nobody listened at the server's address, or requests about two resources
 * broke within ten seconds. One resource that breaks again and again is never an outage of the server. Keeps the resources of the last ten
 * seconds.
 */
export class BrokenResources {
  /** When a request about the resource last broke (monotonic, ms), oldest first. */
  readonly #brokeAt = new Map<string, number>();

  /** A request about this resource broke. Returns whether the server was away. */
  note(resource: string, how: Breakage, now: number): boolean {
    for (const [each, at] of this.#brokeAt) {
      if (now - at <= TOGETHER_MS) break;
      this.#brokeAt.delete(each);
    }
    this.#brokeAt.delete(resource);
    this.#brokeAt.set(resource, now);
    return how === 'away' || this.#brokeAt.size >= ENOUGH;
  }
}
