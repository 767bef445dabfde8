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
  /** The newest that it has shown; NaN if it is no number. */
  readonly version: number;
  /** Why its last list or watch failed; undefined while it works. */
  readonly trouble: Error | undefined;
  /** It waits before it asks again, because the server had no such resource, or ended its watch as soon as it had begun. */
  readonly absent: boolean;
  /** If it is {@link Monitor.absent}, it asks again now. `anew`: if that is in vain, it waits as short as the first time. */
  wake(pauses: 'anew' | 'asBefore'): void;
  /** Nothing of it reaches the graph after the call. Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** `newest`: the newest version that an earlier monitor of the resource has shown; NaN for none. */
export type StartMonitor = (resource: OfferedResource, tell: (event: MonitorEvent) => void, newest: number) => Monitor;

interface Entry extends RunningMonitor<OfferedResource> {
  /** As discovery offered it last. */
  resource: OfferedResource;
  readonly monitor: Monitor;
  /** Its monitor is, or one was that was started anew since. */
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

/** A resource that could not be watched at all, and is tried again at the next pass (COL-022). */
export interface UnstartedMonitor {
  readonly resource: OfferedResource;
  readonly error: Error;
}

/** The changes of a pass. */
export interface MonitorChange {
  readonly added: number;
  /** How many list anew, because others of them may be there or what another one showed of them. */
  readonly restarted: number;
  readonly removed: readonly StoppedMonitor[];
  readonly failed: readonly UnstartedMonitor[];
}

/** A monitor that was stopped, with what discovery had said of its resource. */
export interface StoppedMonitor {
  readonly offered: OfferedResource;
  readonly resource: MonitoredResource;
}

/**
 * The monitors that run, one a resource. Every one that can be started is started at once, whatever becomes of the others
 * (BETTER-1), and none waits for another (COL-048).
 */
export class Monitors {
  readonly #start: StartMonitor;
  readonly #intakeOf: (resource: OfferedResource) => (event: MonitorEvent) => void;
  readonly #entries = new Map<string, Entry>();
  /** Called whenever {@link synced} may have become true. One for the collector, and one for each wait: a handful. */
  readonly #onSynced = new Set<() => void>();
  readonly #onChanged: () => void;

  /**
   * `intakeOf`: takes the events of one monitor. `onChanged`: called before that when a monitor began, ended, synced, or its trouble changed,
   * and {@link Monitors.all} answers accordingly.
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

  /** At least one monitor, and each has finished its first list (COL-025). */
  get synced(): boolean {
    for (const { monitor } of this.#entries.values()) if (!monitor.synced) return false;
    return this.#entries.size > 0;
  }

  /** The newest version that is known of a resource; NaN if none is. */
  versionOf(apiVersion: string, resource: string): number {
    for (const { monitor } of this.#entries.values()) {
      if (monitor.resource.resource === resource && monitor.resource.apiVersion === apiVersion) return monitor.version;
    }
    return Number.NaN;
  }

  get unsynced(): readonly OfferedResource[] {
    return [...this.#entries.values()].filter(({ monitor }) => !monitor.synced).map(({ resource }) => resource);
  }

  /** How many have failed since they last showed anything. */
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

  /** Whether one of them shows this. O(monitors). */
  shows({ apiVersion, kind, resource }: MonitoredResource): boolean {
    for (const { monitor } of this.#entries.values()) {
      const shown = monitor.resource;
      if (shown.resource === resource && shown.kind === kind && shown.apiVersion === apiVersion) return true;
    }
    return false;
  }

  /**
   * The monitors that show what is left of this resource's objects once its own is stopped: those of the resource itself, in whatever
   * version, and those of its kind in other groups (COL-015) that have been synced: one that never was has taken nothing over.
   */
  heirsOf(offered: OfferedResource): readonly Monitor[] {
    const heirs: Monitor[] = [];
    for (const { resource, monitor, synced } of this.#entries.values()) {
      if (sameName(resource, offered) || (synced && mayShareObjects(resource, offered))) heirs.push(monitor);
    }
    return heirs;
  }

  /** Calls the listener whenever a monitor has synced, or is gone. Returns how to stop listening. */
  onSynced(listener: () => void): () => void {
    this.#onSynced.add(listener);
    return () => void this.#onSynced.delete(listener);
  }

  /**
   * Starts and stops monitors so that exactly the wanted resources are watched (COL-019, COL-021…023). Those that stay list anew where one
   * that is stopped may have been the last to show their objects, which their watch would never show again.
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
    // It may have been the only one that was not synced.
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

  /** What discovery says of them now. Answers those of another scope: it is another definition, whose objects are others. */
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

  /** Those that may show the objects of these. */
  #sharing(removing: readonly Entry[]): Entry[] {
    if (removing.length === 0) return [];
    return [...this.#entries.values()].filter((entry) =>
      removing.some(({ resource }) => mayShareObjects(resource, entry.resource)),
    );
  }

  /** What discovery offers is there, whatever its monitor was told (BETTER-3). Answers how many ask again. */
  wake(offered: readonly OfferedResource[], pauses: 'anew' | 'asBefore'): number {
    const absent = offered.flatMap((resource) => {
      const monitor = this.#entries.get(resourceKey(resource))?.monitor;
      return monitor?.absent === true ? [monitor] : [];
    });
    for (const monitor of absent) monitor.wake(pauses);
    return absent.length;
  }

  /**
   * Every resource, or each of those that are meant, is listed anew. `sameHistory`: a list below the newest version that was shown says that
   * the server went back. Otherwise that is known already, and versions of before count no more.
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
    // The old one is silent as soon as it is stopped, so that the two never mix.
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

  /** Those that cannot be started are not entered, so that the next pass tries them again. */
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
