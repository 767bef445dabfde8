import type { ReflectorSink } from '../../client/reflector-sink.ts';
import type { GraphEvent, MonitoredResource } from '../graph/event.ts';
import type { ObjectColumns } from '../graph/object-columns.ts';

/** Fills the columns from one object's bytes; throws when they are no object, and the reflector lists again. */
export type ReadColumns = (bytes: Uint8Array, start: number, end: number) => ObjectColumns;

export interface MonitorSinkOptions {
  readonly resource: MonitoredResource;
  readonly read: ReadColumns;
  /** The one writer of the graph (COL-043). */
  readonly apply: (event: GraphEvent) => void;
  readonly onSynced: () => void;
  readonly onFailed: (error: Error) => void;
}

/**
 * Turns what a reflector shows of one resource into events for the graph, object by object and without keeping any: the
 * graph itself finds out what a new list no longer has (COL-042).
 */
export class MonitorSink implements ReflectorSink {
  readonly #options: MonitorSinkOptions;
  #synced = false;

  constructor(options: MonitorSinkOptions) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#synced;
  }

  replaceBegin(): void {
    this.#options.apply({ type: 'listStarted', resource: this.#options.resource });
  }

  replaceEnd(): void {
    // A list may come from a cache that is older than what the watch had shown, so that its gaps are questions, which a
    // live read answers, and not proofs.
    this.#options.apply({ type: 'listFinished', resource: this.#options.resource, consistent: false });
  }

  /** What it showed is true, and was applied; the next enumeration begins anew. */
  replaceAbort(): void {}

  added(bytes: Uint8Array, start: number, end: number): void {
    const { resource, read, apply } = this.#options;
    apply({ type: 'observedColumns', resource, columns: read(bytes, start, end) });
  }

  modified(bytes: Uint8Array, start: number, end: number): void {
    this.added(bytes, start, end);
  }

  deleted(bytes: Uint8Array, start: number, end: number): void {
    const { resource, read, apply } = this.#options;
    apply({ type: 'deletedColumns', resource, columns: read(bytes, start, end) });
  }

  bookmark(): void {}

  synced(): void {
    this.#synced = true;
    this.#options.onSynced();
  }

  failed(error: Error): void {
    this.#options.onFailed(error);
  }
}
