import type { ReflectorSink } from '../../client/reflector/reflector-sink.ts';
import type { InDoubt } from '../caches/absent-owner-cache.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource, VanishLimit } from '../types/event.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { isAnswer } from '../operations/is-answer.ts';
import { whoIsInDoubt } from '../operations/who-is-in-doubt.ts';
import { versionNumber } from '../types/version-number.ts';

/** Fills the columns from one object's bytes; throws when they are no object, and the reflector lists again. */
export type ReadColumns = (bytes: Uint8Array, start: number, end: number) => ObjectColumns;

/** `lowerVersion`: of a whole list, which a server of its own may count as it likes. */
export type HistoryEvidence = 'lowerVersion' | 'deletionTakenBack';

export interface MonitorSinkOptions {
  readonly resource: MonitoredResource;
  readonly read: ReadColumns;
  /** Objects that `read` will be asked for next, in this order; see ReflectorSink. */
  readonly ahead?: (bytes: Uint8Array, ranges: Int32Array, count: number) => void;
  /** The one writer of the graph (COL-043). */
  readonly apply: (event: GraphEvent) => ApplyOutcome;
  /** How much may be missing from the list that ends now. Absent, or undefined: anything. */
  readonly vanishLimit?: () => VanishLimit | undefined;
  /** An enumeration showed an object that waits for its dependents, or for these to be orphaned. */
  readonly onWaitingListed: (columns: ObjectColumns) => void;
  /** A watch has shown a change of the object that is none for the graph: of a label, a status or its specification. */
  readonly onTouched?: (columns: ObjectColumns) => void;
  /** An enumeration is complete, and was applied. */
  readonly onListed?: () => void;
  readonly onSynced: () => void;
  /** {@link MonitorSink.trouble} has begun or is over. */
  readonly onTrouble: () => void;
  /** It has begun, or a server was away once more while it lasts: whoever answers next may be another one. */
  readonly onDoubt: (about: InDoubt) => void;
  /**
   * The server's resource version is lower than it was, or a deletion is taken back: its history was replaced, by a backup for example.
   * Called before anybody can act upon what showed it, and not for what is listed because of it.
   */
  readonly onHistoryReset: (evidence: HistoryEvidence) => void;
  /**
   * Something of this resource was created, changed or deleted after the first enumeration, or may have been before the end of
   * one: what was read of the server earlier is older than that.
   */
  readonly onChanged?: () => void;
  /** A list or watch failed, and will be tried again. */
  readonly onFailed?: (error: Error) => void;
  /** The server answered a watch that goes on from where it was: there may be nothing to show. */
  readonly onAnswered?: () => void;
  /** The same after a failure: the server may have become an older one, which has nothing to show for long. */
  readonly onResumed?: () => void;
  /** After a failure an enumeration is complete, or a watch shows something. */
  readonly onRecovered?: () => void;
}

/**
 * Turns what a reflector shows of one resource into events for the graph, object by object and without keeping any: the
 * graph itself finds out what a new list no longer has (COL-042).
 */
export class MonitorSink implements ReflectorSink {
  readonly #options: MonitorSinkOptions;
  #synced = false;
  #trouble: Error | undefined;
  /** From a failure until {@link MonitorSinkOptions.onRecovered}. */
  #failing = false;
  #silent = false;
  #enumerating = false;
  /** The newest that an enumeration, a bookmark or an event was of; NaN before, and for versions that are no plain number. */
  #version = Number.NaN;

  constructor(options: MonitorSinkOptions) {
    this.#options = options;
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
    const { apply, resource, onHistoryReset, onChanged } = this.#options;
    this.#setTrouble(undefined);
    this.#enumerating = false;
    this.#recover();
    const limit = this.#options.vanishLimit?.();
    apply({ type: 'listFinished', resource, ...(limit === undefined ? {} : { limit }) });
    this.#options.onListed?.();
    const version = versionNumber(resourceVersion);
    const wentBack = version < this.#version;
    this.#version = version;
    if (wentBack) onHistoryReset('lowerVersion');
    onChanged?.();
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
    const { resource, read, apply, onWaitingListed, onTouched, onHistoryReset } = this.#options;
    const columns = read(bytes, start, end);
    const outcome = apply({ type: 'observedColumns', resource, columns });
    if (outcome === 'wentBack' && this.#synced) return onHistoryReset('deletionTakenBack');
    if (!this.#enumerating && outcome === 'unchanged') onTouched?.(columns);
    if (this.#enumerating && columns.deleting && (columns.foregroundFinalizer || columns.orphanFinalizer)) {
      // What happened since the watch was lost is not known: the deletion may have ended and begun again, and would look
      // like the one that was dealt with (COL-060, COL-063).
      onWaitingListed(columns);
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
    this.#options.onSynced();
  }

  opened(): void {
    if (this.#silent || this.#enumerating) return;
    this.#options.onAnswered?.();
    if (this.#failing) this.#options.onResumed?.();
  }

  failed(error: Error): void {
    const inDoubt = this.#doubtedBy(error);
    if (!this.#silent && inDoubt !== undefined) this.#options.onDoubt(inDoubt);
    this.#setTrouble(error);
    this.#failing = true;
    if (!this.#silent) this.#options.onFailed?.(error);
  }

  /** What changes may be a sign of more than it says; what has been said before is none. */
  #doubtedBy(error: Error): InDoubt | undefined {
    if (this.#trouble === undefined) return 'all';
    return isAnswer(error) ? undefined : whoIsInDoubt(error, this.#options.resource.apiVersion);
  }

  #followed(version: number): void {
    // Of an enumeration only the end says that nothing is out of date any more, and which version it is of.
    if (this.#enumerating) return;
    if (version > this.#version || Number.isNaN(this.#version)) this.#version = version;
    this.#setTrouble(undefined);
    this.#recover();
    this.#options.onChanged?.();
  }

  /** An enumeration that has not come to its end is none: it may break off at the same place each time. */
  #recover(): void {
    if (!this.#failing) return;
    this.#failing = false;
    if (!this.#silent) this.#options.onRecovered?.();
  }

  #setTrouble(trouble: Error | undefined): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble();
  }
}
