import { asError } from '../../base/errors/thrown.ts';
import type { MonitoredResource } from '../types/event.ts';
import type { MonitorEvent } from '../types/monitor-event.ts';
import {
  mayShareObjects,
  type OfferedResource,
  planMonitors,
  resourceKey,
  type RunningMonitor,
  sameName,
} from '../resources/deletable-resources.ts';

/** One watched resource: a reflector that feeds the graph until it is stopped. */
export interface Monitor {
  readonly resource: MonitoredResource;
  /** Its first enumeration is complete; stays true through later lists (COL-025). */
  readonly synced: boolean;
  /** The newest version that it has shown; NaN if it is no number. */
  readonly version: number;
  /** The error of its last list or watch; undefined while it works. */
  readonly trouble: Error | undefined;
  /** True while it waits before the next request, because the server had no such resource, or ended its watch as soon as it had begun. */
  readonly absent: boolean;
  /** Ends the wait of an {@link Monitor.absent} monitor. `anew`: if the next request fails, its wait is as short as the first one. */
  wake(pauses: 'anew' | 'asBefore'): void;
  /** The server was away, and no request that began after that has been answered. */
  readonly suspected: boolean;
  /** The server was away: what the present watch shows is not believed. */
  suspect(): void;
  /** Opens the watch of a {@link Monitor.suspected} monitor anew, where it was. Does nothing while the monitor lists or waits. */
  reopen(): void;
  /** Stops the monitor. After the call it sends nothing to the graph. Resolves when all its work has ended. */
  stop(): Promise<void>;
}

/** `newest`: the newest version that an earlier monitor of the resource has shown; NaN for none. */
export type StartMonitor = (resource: OfferedResource, tell: (event: MonitorEvent) => void, newest: number) => Monitor;

interface Entry extends RunningMonitor<OfferedResource> {
  /** The resource as discovery last offered it. */
  resource: OfferedResource;
  readonly monitor: Monitor;
  /** Whether its monitor is synced, or an earlier one was before a restart. */
  readonly synced: boolean;
}

function entryOf(resource: OfferedResource, monitor: Monitor, before: Entry | undefined): Entry {
  const syncedBefore = before?.synced === true;
  return {
    resource,
    monitor,
    get synced() {
      return syncedBefore || monitor.synced;
    },
    get failing() {
      return monitor.trouble !== undefined;
    },
  };
}

/** A resource that could not be watched at all. The next pass tries it again (COL-022). */
export interface UnstartedMonitor {
  readonly resource: OfferedResource;
  readonly error: Error;
}

/** The changes of a pass. */
interface MonitorChange {
  readonly added: number;
  /** The monitors that list again: the scope changed, or a stopped monitor may have shown their objects. */
  readonly restarted: number;
  readonly removed: readonly StoppedMonitor[];
  readonly failed: readonly UnstartedMonitor[];
}

/** The resource of a stopped monitor, as discovery offered it and as the graph knows it. */
export interface StoppedMonitor {
  readonly offered: OfferedResource;
  readonly resource: MonitoredResource;
}

/**
 * The running monitors, one per resource. Each one that can be started is started at once, even if others fail (BETTER-1), and none waits
 * for another (COL-048).
 */
export class Monitors {
  readonly #start: StartMonitor;
  readonly #intakeOf: (resource: OfferedResource) => (event: MonitorEvent) => void;
  readonly #entries = new Map<string, Entry>();
  /** Called whenever {@link synced} may have become true. A handful: one for the collector, and one for each wait. */
  readonly #onSynced = new Set<() => void>();
  readonly #onChanged: () => void;

  /**
   * `intakeOf`: returns the receiver of a monitor's events. `onChanged`: called before that receiver when a monitor started, stopped,
   * synced, or its trouble changed; {@link Monitors.all} already shows the change.
   */
  constructor(
    start: StartMonitor,
    intakeOf: (resource: OfferedResource) => (event: MonitorEvent) => void = () => () => undefined,
    onChanged: () => void = () => undefined,
  ) {
    this.#start = start;
    this.#intakeOf = intakeOf;
    this.#onChanged = onChanged;
  }

  *all(): Iterable<Monitor> {
    for (const { monitor } of this.#entries.values()) yield monitor;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** True if there is at least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    for (const { monitor } of this.#entries.values()) if (!monitor.synced) return false;
    return this.#entries.size > 0;
  }

  /** The newest known version of a resource; NaN if none is known. */
  versionOf(apiVersion: string, resource: string): number {
    for (const { monitor } of this.#entries.values()) {
      if (monitor.resource.resource === resource && monitor.resource.apiVersion === apiVersion) return monitor.version;
    }
    return Number.NaN;
  }

  get unsynced(): readonly OfferedResource[] {
    return [...this.#entries.values()].filter(({ monitor }) => !monitor.synced).map(({ resource }) => resource);
  }

  /** The number of monitors that have failed since they last showed anything. */
  get failing(): number {
    let failing = 0;
    for (const { monitor } of this.#entries.values()) if (monitor.trouble !== undefined) failing++;
    return failing;
  }

  get resources(): readonly OfferedResource[] {
    return [...this.#entries.values()].map(({ resource }) => resource);
  }

  /** The monitor of this resource, in this version. */
  of(offered: OfferedResource): Monitor | undefined {
    return this.#entries.get(resourceKey(offered))?.monitor;
  }

  /** Whether a monitor watches this resource. O(monitors). */
  shows({ apiVersion, kind, resource }: MonitoredResource): boolean {
    for (const { monitor } of this.#entries.values()) {
      const shown = monitor.resource;
      if (shown.resource === resource && shown.kind === kind && shown.apiVersion === apiVersion) return true;
    }
    return false;
  }

  /**
   * The monitors that show the remaining objects of a resource after its own monitor is stopped. These are the monitors of the resource
   * itself in any version, and those of its kind in other groups (COL-015) that have been synced. A monitor that never synced has taken
   * nothing over.
   */
  heirsOf(offered: OfferedResource): readonly Monitor[] {
    const heirs: Monitor[] = [];
    for (const { resource, monitor, synced } of this.#entries.values()) {
      if (sameName(resource, offered) || (synced && mayShareObjects(resource, offered))) heirs.push(monitor);
    }
    return heirs;
  }

  /** Calls the listener whenever a monitor has synced or was removed. Returns a function that stops this. */
  onSynced(listener: () => void): () => void {
    this.#onSynced.add(listener);
    return () => void this.#onSynced.delete(listener);
  }

  /**
   * Starts and stops monitors so that exactly the wanted resources are watched (COL-019, COL-021…023). A monitor that stays lists again if
   * a stopped one may have been the last to show its objects, because its watch would never show them again.
   */
  async sync(wanted: readonly OfferedResource[], failedGroupVersions: ReadonlySet<string>): Promise<MonitorChange> {
    const { added, removed } = planMonitors(this.#entries, wanted, failedGroupVersions);
    const rescoped = this.#takeOver(wanted);
    const removing = removed.map((key) => {
      const entry = this.#entries.get(key)!;
      this.#entries.delete(key);
      return entry;
    });
    const anew = [...new Set([...rescoped, ...this.#sharing(removing)])];
    const failed = this.#startAll(added);
    const { unstarted, stopped } = this.#restartAll(anew);
    this.#onChanged();
    // All monitors may be synced now, because a removed one may have been the only one that was not.
    if (removing.length > 0) this.#tellSynced();
    await Promise.all(removing.map(({ monitor }) => monitor.stop()));
    await stopped;
    return {
      added: added.length - failed.length,
      restarted: anew.length - unstarted.length,
      removed: removing.map(({ resource, monitor }) => ({ offered: resource, resource: monitor.resource })),
      failed: [...failed, ...unstarted],
    };
  }

  /** Updates the entries from discovery. Returns those whose scope changed: that is another definition, with other objects. */
  #takeOver(wanted: readonly OfferedResource[]): Entry[] {
    const rescoped: Entry[] = [];
    for (const resource of wanted) {
      const entry = this.#entries.get(resourceKey(resource));
      if (entry === undefined) continue;
      if (entry.resource.namespaced !== resource.namespaced) rescoped.push(entry);
      entry.resource = resource;
    }
    return rescoped;
  }

  /** The entries that may show the objects of the removed ones. */
  #sharing(removing: readonly Entry[]): Entry[] {
    if (removing.length === 0) return [];
    return [...this.#entries.values()].filter((entry) =>
      removing.some(({ resource }) => mayShareObjects(resource, entry.resource)),
    );
  }

  /** Discovery offers these resources, so their absent monitors ask again (BETTER-3). Returns the number of monitors. */
  wake(offered: readonly OfferedResource[], pauses: 'anew' | 'asBefore'): number {
    const absent = offered.flatMap((resource) => {
      const monitor = this.#entries.get(resourceKey(resource))?.monitor;
      return monitor?.absent === true ? [monitor] : [];
    });
    for (const monitor of absent) monitor.wake(pauses);
    return absent.length;
  }

  /**
   * Lists again every resource, or those that `isMeant` selects. `sameHistory`: a list below the newest version that was shown means that
   * the server's history was reset. With `anyHistory` that is already known, and earlier versions no longer count.
   */
  async restart(
    isMeant: (resource: OfferedResource) => boolean = () => true,
    history: 'sameHistory' | 'anyHistory' = 'anyHistory',
  ): Promise<readonly UnstartedMonitor[]> {
    const { unstarted, stopped } = this.#restartAll(
      [...this.#entries.values()].filter(({ resource }) => isMeant(resource)),
      history,
    );
    await stopped;
    return unstarted;
  }

  #restartAll(
    before: readonly Entry[],
    history: 'sameHistory' | 'anyHistory' = 'anyHistory',
  ): {
    readonly unstarted: readonly UnstartedMonitor[];
    readonly stopped: Promise<unknown>;
  } {
    // A monitor is silent as soon as it is stopped, so the old and the new one never mix.
    const stopped = Promise.all(before.map(({ monitor }) => monitor.stop()));
    return {
      unstarted: this.#startAll(
        before.map(({ resource }) => resource),
        history,
      ),
      stopped,
    };
  }

  async stop(): Promise<void> {
    const monitors = [...this.#entries.values()].map(({ monitor }) => monitor);
    this.#entries.clear();
    this.#onChanged();
    await Promise.all(monitors.map((monitor) => monitor.stop()));
  }

  /** Resources that cannot be started get no entry, so the next pass tries them again. */
  #startAll(
    resources: readonly OfferedResource[],
    history: 'sameHistory' | 'anyHistory' = 'anyHistory',
  ): UnstartedMonitor[] {
    const failed: UnstartedMonitor[] = [];
    for (const resource of resources) {
      const key = resourceKey(resource);
      try {
        const before = this.#entries.get(key);
        const newest = history === 'sameHistory' ? before?.monitor.version : undefined;
        this.#entries.set(key, this.#started(resource, before, newest ?? Number.NaN));
      } catch (error) {
        this.#entries.delete(key);
        failed.push({ resource, error: asError(error) });
      }
    }
    this.#onChanged();
    return failed;
  }

  #started(resource: OfferedResource, before: Entry | undefined, newest: number): Entry {
    const take = this.#intakeOf(resource);
    const tell = (event: MonitorEvent): void => {
      if (event.type === 'synced' || event.type === 'troubleChanged') this.#onChanged();
      take(event);
      if (event.type === 'synced') this.#tellSynced();
    };
    const monitor = this.#start(resource, tell, newest);
    return entryOf(resource, monitor, before);
  }

  #tellSynced(): void {
    for (const listener of this.#onSynced) listener();
  }
}
