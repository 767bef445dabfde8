import type { ReflectorSink } from '../../client/reflector/reflector-sink.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource, VanishLimit } from '../types/event.ts';
import type { MonitorEvent } from '../types/monitor-event.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { outageOfWatch } from '../trust/outage-scope.ts';
import { versionNumber } from '../types/version-number.ts';

/** Fills the columns from one object's bytes. Throws if they are no object; the reflector then lists again. */
type ReadColumns = (bytes: Uint8Array, start: number, end: number) => ObjectColumns;

interface MonitorSinkOptions {
  readonly resource: MonitoredResource;
  readonly read: ReadColumns;
  /** Announces the objects that `read` receives next, in this order; see ReflectorSink. */
  readonly ahead?: (bytes: Uint8Array, ranges: Int32Array, count: number) => void;
  /** The one writer of the graph (COL-043). */
  readonly apply: (event: GraphEvent) => ApplyOutcome;
  /** The limit on objects that are missing from the list that ends now. Absent or undefined: no limit. */
  readonly vanishLimit?: () => VanishLimit | undefined;
  /** The resource version at which the reflector's watch resumes. */
  readonly resumesFrom: () => string;
  readonly tell: (event: MonitorEvent) => void;
  /**
   * The newest version that an earlier monitor of the resource has shown; NaN for none. A list with a lower version means that the server's
   * history was reset.
   */
  readonly newest?: number;
}

/** Other requests showed that the server was away, so this watch may be open at a server that is no longer the present one. */
class ServerOutageError extends Error {
  constructor() {
    super('the server was away; the watch is opened anew');
    this.name = 'ServerOutageError';
  }
}

/** One shared value, because a watch sends it with every event. */
const CHANGED = { type: 'changed' } as const;

/**
 * Turns the objects that a reflector shows of one resource into graph events, one by one. It keeps no object: the graph itself finds the
 * objects that a new list no longer has (COL-042).
 */
export class MonitorSink implements ReflectorSink {
  readonly #options: MonitorSinkOptions;
  #synced = false;
  #trouble: Error | undefined;
  /** True from a failure until `recovered` is sent. */
  #failing = false;
  #silent = false;
  /** When the server was away, as long as the watch may still be open at an older server (monotonic, ms). Undefined: it is not. */
  #suspectedSince: number | undefined;
  #enumerating = false;
  /** The newest version of an enumeration, a bookmark or an event; NaN before the first, and for versions that are no plain number. */
  #version: number;

  constructor(options: MonitorSinkOptions) {
    this.#options = options;
    this.#version = options.newest ?? Number.NaN;
  }

  get isSynced(): boolean {
    return this.#synced;
  }

  /** The newest version of a list, a bookmark or an event; NaN before the first, and if it is no number. */
  get version(): number {
    return this.#version;
  }

  /** The error of the last request; undefined as soon as the server has shown anything again. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** See {@link Monitor.suspected}. */
  get suspectedSince(): number | undefined {
    return this.#suspectedSince;
  }

  /** The server was away. No answer to a request that began until now shows that this resource works. */
  suspect(now: number): void {
    this.#suspectedSince = now;
    this.#failing = true;
    if (this.#trouble === undefined) this.#setTrouble(new ServerOutageError());
  }

  /** From now on nothing reaches the graph, even if requests are still under way. */
  silence(): void {
    this.#silent = true;
  }

  replaceBegin(): void {
    if (this.#silent) return;
    this.#enumerating = true;
    this.#options.apply({ type: 'listStarted', resource: this.#options.resource });
  }

  replaceEnd(resourceVersion: string): void {
    if (this.#silent) return;
    const { apply, resource, tell } = this.#options;
    this.#enumerating = false;
    this.#works();
    const limit = this.#options.vanishLimit?.();
    apply({ type: 'listFinished', resource, ...(limit === undefined ? {} : { limit }) });
    tell({ type: 'listed' });
    const version = versionNumber(resourceVersion);
    const wentBack = version < this.#version;
    this.#version = version;
    if (wentBack) tell({ type: 'historyReset', evidence: 'lowerVersion' });
    tell(CHANGED);
  }

  /** The objects of the interrupted enumeration are valid and were applied. The next enumeration starts again. */
  replaceAbort(): void {
    this.#enumerating = false;
  }

  ahead(bytes: Uint8Array, ranges: Int32Array, count: number): void {
    if (!this.#silent) this.#options.ahead?.(bytes, ranges, count);
  }

  added(bytes: Uint8Array, start: number, end: number): void {
    if (this.#silent) return;
    const { resource, read, apply, tell } = this.#options;
    const columns = read(bytes, start, end);
    const outcome = apply({ type: 'observedColumns', resource, columns });
    if (outcome === 'wentBack' && this.#synced) return tell({ type: 'historyReset', evidence: 'deletionTakenBack' });
    if (!this.#enumerating && outcome === 'unchanged') tell({ type: 'touched', columns });
    if (this.#enumerating && columns.deleting && (columns.foregroundFinalizer || columns.orphanFinalizer)) {
      // The events since the watch was lost are unknown. The deletion may have completed and begun again, and nothing would distinguish it
      // from the one that was handled (COL-060, COL-063).
      tell({ type: 'waitingListed', columns });
    }
    this.#followed(columns.resourceVersion);
  }

  modified(bytes: Uint8Array, start: number, end: number): void {
    this.added(bytes, start, end);
  }

  deleted(bytes: Uint8Array, start: number, end: number): void {
    if (this.#silent) return;
    const { resource, read, apply } = this.#options;
    const columns = read(bytes, start, end);
    apply({ type: 'deletedColumns', resource, columns });
    this.#followed(columns.resourceVersion);
  }

  bookmark(resourceVersion: string): void {
    this.#works();
    this.#version = versionNumber(resourceVersion);
  }

  synced(): void {
    if (this.#silent) return;
    this.#synced = true;
    this.#options.tell({ type: 'synced' });
  }

  opened(began: number): void {
    if (this.#suspectedSince !== undefined && began > this.#suspectedSince) this.#suspectedSince = undefined;
    if (this.#silent || this.#enumerating) return;
    const { tell, resumesFrom } = this.#options;
    tell({ type: 'answered' });
    if (this.#failing) tell({ type: 'resumed', version: versionNumber(resumesFrom()) });
  }

  failed(error: Error): void {
    const { resource } = this.#options;
    const scope = outageOfWatch(error, resource.apiVersion, this.#trouble === undefined ? 'working' : 'inTrouble');
    if (!this.#silent && scope !== undefined) this.#options.tell({ type: 'outage', scope });
    this.#setTrouble(error);
    this.#failing = true;
    if (!this.#silent) this.#options.tell({ type: 'failed', error });
    // The next request is a new one.
    this.#suspectedSince = undefined;
  }

  cut(error: Error): void {
    // The server that answers next may be an older one, as after a failure.
    this.#failing = true;
    if (!this.#silent) this.#options.tell({ type: 'cut', error });
    this.#suspectedSince = undefined;
  }

  #followed(version: number): void {
    // Only a complete enumeration has a version, and proves that nothing is out of date any more.
    if (this.#enumerating) return;
    if (version > this.#version || Number.isNaN(this.#version)) this.#version = version;
    this.#works();
    this.#options.tell(CHANGED);
  }

  /** The server has shown something. An incomplete enumeration is no recovery: it may break off at the same place each time. */
  #works(): void {
    if (this.#suspectedSince !== undefined) return;
    this.#setTrouble(undefined);
    if (!this.#failing) return;
    this.#failing = false;
    if (!this.#silent) this.#options.tell({ type: 'recovered' });
  }

  #setTrouble(trouble: Error | undefined): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.tell({ type: 'troubleChanged' });
  }
}
