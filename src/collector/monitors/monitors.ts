import type { MonitoredResource } from '../graph/event.ts';
import { type OfferedResource, planMonitors, resourceKey } from '../resources/deletable-resources.ts';

/** One watched resource: a reflector that feeds the graph until it is stopped. */
export interface Monitor {
  readonly resource: MonitoredResource;
  /** Its first enumeration is complete; stays true through later lists (COL-025). */
  readonly synced: boolean;
  /** Why its last list or watch failed; undefined while it works. */
  readonly trouble: Error | undefined;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

export type StartMonitor = (resource: OfferedResource) => Monitor;

interface Entry {
  readonly resource: OfferedResource;
  readonly monitor: Monitor;
  readonly synced: boolean;
}

function entryOf(resource: OfferedResource, monitor: Monitor): Entry {
  return {
    resource,
    monitor,
    get synced() {
      return monitor.synced;
    },
  };
}

/**
 * The monitors that run, one a resource. Every one that can be started is started at once, whatever becomes of the others
 * (BETTER-1), and none waits for another (COL-048).
 */
export class Monitors {
  readonly #start: StartMonitor;
  readonly #entries = new Map<string, Entry>();

  constructor(start: StartMonitor) {
    this.#start = start;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** At least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    return this.#entries.size > 0 && this.unsynced.length === 0;
  }

  get unsynced(): readonly OfferedResource[] {
    return [...this.#entries.values()].filter(({ synced }) => !synced).map(({ resource }) => resource);
  }

  /** Starts and stops monitors so that exactly the wanted resources are watched (COL-019, COL-021). */
  async sync(
    wanted: readonly OfferedResource[],
    failedGroupVersions: ReadonlySet<string>,
  ): Promise<{ added: number; removed: readonly Monitor[] }> {
    const { added, removed } = planMonitors(this.#entries, wanted, failedGroupVersions);
    for (const resource of added) this.#entries.set(resourceKey(resource), entryOf(resource, this.#start(resource)));
    const stopped: Monitor[] = [];
    for (const key of removed) {
      const entry = this.#entries.get(key);
      if (!entry) continue;
      this.#entries.delete(key);
      stopped.push(entry.monitor);
    }
    await Promise.all(stopped.map((monitor) => monitor.stop()));
    return { added: added.length, removed: stopped };
  }

  async stop(): Promise<void> {
    const monitors = [...this.#entries.values()].map(({ monitor }) => monitor);
    this.#entries.clear();
    await Promise.all(monitors.map((monitor) => monitor.stop()));
  }
}
