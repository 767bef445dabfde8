import type { MonitoredResource } from '../types/event.ts';
import { concernsOneKind } from './outage-scope.ts';

/** The state of one list and watch. */
export interface WatchState {
  readonly resource: Pick<MonitoredResource, 'apiVersion' | 'kind'>;
  /** Its first list is complete. */
  readonly synced: boolean;
  /** Why its last list or watch failed; undefined while it works. */
  readonly trouble: Error | undefined;
}

/**
 * Knows for which kinds the graph may answer instead of the server (BETTER-9). While a watch is in trouble, the graph does not answer for
 * its kind; it answers for no kind if kube-apiserver may be away.
 *
 * Every decision needs this, also with thousands of watches. So the watches are examined only after {@link WatchedKinds.changed}.
 */
export class WatchedKinds {
  readonly #watches: () => Iterable<WatchState>;
  #answers: boolean | undefined;
  /** Whether each watch of a kind works, by kind. */
  #working: Map<string, boolean> | undefined;

  constructor(watches: () => Iterable<WatchState>) {
    this.#watches = watches;
  }

  /** A watch began, ended, synced, or its trouble changed. */
  changed(): void {
    this.#answers = undefined;
    this.#working = undefined;
  }

  /**
   * Whether the graph may answer at all. There is at least one watch, and each is synced and works, or fails only for reasons of its own
   * kind.
   */
  get answers(): boolean {
    return (this.#answers ??= this.#allAnswer());
  }

  /** {@link WatchedKinds.answers}, and no watch of this kind is in trouble. A kind without a watch is not in trouble. */
  answersFor(apiVersion: string, kind: string): boolean {
    return this.answers && this.#kinds().get(`${apiVersion} ${kind}`) !== false;
  }

  /** Whether every watch of this kind is synced and works; false when it has none. */
  shows(apiVersion: string, kind: string): boolean {
    return this.#kinds().get(`${apiVersion} ${kind}`) === true;
  }

  #allAnswer(): boolean {
    let some = false;
    for (const { resource, synced, trouble } of this.#watches()) {
      some = true;
      if (synced && trouble === undefined) continue;
      if (trouble === undefined || !concernsOneKind(trouble, resource.apiVersion)) return false;
    }
    return some;
  }

  #kinds(): ReadonlyMap<string, boolean> {
    if (this.#working !== undefined) return this.#working;
    const working = new Map<string, boolean>();
    for (const { resource, synced, trouble } of this.#watches()) {
      const key = `${resource.apiVersion} ${resource.kind}`;
      working.set(key, working.get(key) !== false && synced && trouble === undefined);
    }
    this.#working = working;
    return working;
  }
}
