import type { Clock } from '../../../base/time/clock.ts';
import { asError } from '../../../base/errors/thrown.ts';
import type { Revision, StoreEvent, StoreWatch, WatchOptions } from '../interface.ts';
import { RevisionCompactedError, RevisionFutureError } from '../interface.ts';
import { eventOf } from './mvcc.ts';
import type { MultiVersionMap } from './mvcc.ts';
import { PrefixTable } from '../prefix-table.ts';

/** Number of changes that a new watch processes in one turn of the event loop. */
const CATCH_UP_SLICE = 4096;

interface Watcher {
  readonly prefix: string;
  readonly options: WatchOptions;
  /** The next revision to process. */
  next: Revision;
  phase: 'catching-up' | 'live' | 'ended';
  /** Events of the current dispatch. */
  batch: StoreEvent[];
}

/**
 * The watches of an embedded store. A new one reads history until it reaches the published revision, and then joins the live ones, which
 * receive each batch when it is published and their progress in the next turn. Joining and dispatching are synchronous, so no change is
 * missed or repeated.
 */
export class StoreWatchers {
  readonly #map: MultiVersionMap;
  readonly #clock: Clock;
  readonly #catchingUp = new Set<Watcher>();
  readonly #live = new PrefixTable<Watcher>();
  /** The revision of the last dispatch, until the live watches receive it as progress. */
  #progress: Revision | undefined;

  constructor({ map, clock }: { map: MultiVersionMap; clock: Clock }) {
    this.#map = map;
    this.#clock = clock;
  }

  add(prefix: string, options: WatchOptions): StoreWatch {
    const { compacted, published } = this.#map;
    const { startRevision } = options;
    if (startRevision <= compacted) throw new RevisionCompactedError(startRevision, compacted);
    if (startRevision > published + 1) throw new RevisionFutureError(startRevision, published);
    const watcher: Watcher = { prefix, options, next: startRevision, phase: 'catching-up', batch: [] };
    this.#catchingUp.add(watcher);
    queueMicrotask(() => this.#catchUp(watcher));
    return { cancel: () => this.#remove(watcher) };
  }

  /** Delivers the published changes `from..to` to the live watches. */
  dispatch(from: Revision, to: Revision): void {
    if (this.#live.empty) return;
    const touched: Watcher[] = [];
    for (let revision = from; revision <= to; revision++) {
      const change = this.#map.change(revision);
      let event: StoreEvent | undefined;
      this.#live.forEachMatch(change.key, (watcher) => {
        event ??= eventOf(change);
        if (watcher.batch.length === 0) touched.push(watcher);
        watcher.batch.push(event);
      });
    }
    for (const watcher of touched) {
      const events = watcher.batch;
      watcher.batch = [];
      this.#tell(watcher, events, undefined);
    }
    if (this.#progress === undefined) this.#clock.defer(() => this.#tellProgress());
    this.#progress = to;
  }

  /** Reports progress in the next turn: the writer is answered first, and many writes of a turn need one round. */
  #tellProgress(): void {
    const to = this.#progress;
    this.#progress = undefined;
    for (const watcher of this.#live.members()) this.#tell(watcher, [], to);
  }

  /** Ends all watches. If `error` is absent, the store was closed. */
  end(error: Error | undefined): void {
    for (const watcher of [...this.#catchingUp, ...this.#live.members()]) this.#close(watcher, error);
  }

  #catchUp(watcher: Watcher): void {
    if (watcher.phase !== 'catching-up') return;
    const { compacted, published } = this.#map;
    if (watcher.next <= compacted) {
      this.#close(watcher, new RevisionCompactedError(watcher.next, compacted));
      return;
    }
    const to = Math.min(published, watcher.next + CATCH_UP_SLICE - 1);
    const events: StoreEvent[] = [];
    for (let revision = watcher.next; revision <= to; revision++) {
      const change = this.#map.change(revision);
      if (change.key.startsWith(watcher.prefix)) events.push(eventOf(change));
    }
    watcher.next = to + 1;
    if (to === published) {
      watcher.phase = 'live';
      this.#catchingUp.delete(watcher);
      this.#live.add(watcher.prefix, watcher);
    }
    this.#tell(watcher, events, to);
    if (to < published) this.#clock.defer(() => this.#catchUp(watcher));
  }

  /** A callback may cancel its own watch or another one. If it throws, only its own watch ends. */
  #tell(watcher: Watcher, events: readonly StoreEvent[], progress: Revision | undefined): void {
    try {
      if (events.length > 0 && watcher.phase !== 'ended') watcher.options.onEvents(events);
      if (progress !== undefined && watcher.phase !== 'ended') watcher.options.onProgress?.(progress);
    } catch (error) {
      this.#close(watcher, asError(error));
    }
  }

  #close(watcher: Watcher, error: Error | undefined): void {
    this.#remove(watcher);
    watcher.options.onClose?.(error);
  }

  #remove(watcher: Watcher): void {
    watcher.phase = 'ended';
    this.#catchingUp.delete(watcher);
    this.#live.delete(watcher.prefix, watcher);
  }
}
