import type { ReflectorSink } from '../../client/reflector/reflector-sink.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource, VanishLimit } from '../types/event.ts';
import type { MonitorEvent } from '../types/monitor-event.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { outageOfWatch } from '../trust/outage-scope.ts';
import { versionNumber } from '../types/version-number.ts';

/** Fills the columns from one object's bytes; throws when they are no object, and the reflector lists again. */
export type ReadColumns = (bytes: Uint8Array, start: number, end: number) => ObjectColumns;

export interface MonitorSinkOptions {
  readonly resource: MonitoredResource;
  readonly read: ReadColumns;
  /** Objects that `read` will be asked for next, in this order; see ReflectorSink. */
  readonly ahead?: (bytes: Uint8Array, ranges: Int32Array, count: number) => void;
  /** The one writer of the graph (COL-043). */
  readonly apply: (event: GraphEvent) => ApplyOutcome;
  /** How much may be missing from the list that ends now. Absent, or undefined: anything. */
  readonly vanishLimit?: () => VanishLimit | undefined;
  /** The resource version from which the reflector's watch goes on. */
  readonly resumesFrom: () => string;
  readonly tell: (event: MonitorEvent) => void;
  /** The newest version that an earlier monitor of the resource has shown; NaN for none. A list below it says that the server went back. */
  readonly newest?: number;
}

/** One value for all: a watch tells it with every event. */
const CHANGED = { type: 'changed' } as const;

/**
 * Turns what a reflector shows of one resource into events for the graph, object by object and without keeping any: the
 * graph itself finds out what a new list no longer has (COL-042).
 */
export class MonitorSink implements ReflectorSink {
  readonly #options: MonitorSinkOptions;
  #synced = false;
  #trouble: Error | undefined;
  /** From a failure until `recovered` is told. */
  #failing = false;
  #silent = false;
  #enumerating = false;
  /** The newest that an enumeration, a bookmark or an event was of; NaN before, and for versions that are no plain number. */
  #version: number;

  constructor(options: MonitorSinkOptions) {
    this.#options = options;
    this.#version = options.newest ?? Number.NaN;
  }

  get isSynced(): boolean {
    return this.#synced;
  }

  /** The newest version that a list, a bookmark or an event was of; NaN before the first, and where it is no number. */
  get version(): number {
    return this.#version;
  }

  /** Why the last request failed; undefined as soon as the server has shown anything again. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** From now on nothing reaches the graph, whatever is still under way. */
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
    this.#setTrouble(undefined);
    this.#enumerating = false;
    this.#recover();
    const limit = this.#options.vanishLimit?.();
    apply({ type: 'listFinished', resource, ...(limit === undefined ? {} : { limit }) });
    tell({ type: 'listed' });
    const version = versionNumber(resourceVersion);
    const wentBack = version < this.#version;
    this.#version = version;
    if (wentBack) tell({ type: 'historyReset', evidence: 'lowerVersion' });
    tell(CHANGED);
  }

  /** What it showed is true, and was applied; the next enumeration begins anew. */
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
      // Events since the loss of the watch are unknown: the deletion may have ended and begun again, and would look
      // like the one that was dealt with (COL-060, COL-063).
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
    this.#setTrouble(undefined);
    this.#recover();
    this.#version = versionNumber(resourceVersion);
  }

  synced(): void {
    if (this.#silent) return;
    this.#synced = true;
    this.#options.tell({ type: 'synced' });
  }

  opened(): void {
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
  }

  #followed(version: number): void {
    // Of an enumeration only the end says that nothing is out of date any more, and which version it is of.
    if (this.#enumerating) return;
    if (version > this.#version || Number.isNaN(this.#version)) this.#version = version;
    this.#setTrouble(undefined);
    this.#recover();
    this.#options.tell(CHANGED);
  }

  /** An enumeration that has not come to its end is none: it may break off at the same place each time. */
  #recover(): void {
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
