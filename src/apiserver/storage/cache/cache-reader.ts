import { assert } from '../../../base/errors/assert.ts';
import { Ring } from '../../../base/collections/ring.ts';
import { CacheEvent, EventBatch } from './cache-event.ts';
import type { CacheWatch, WatchCloseReason, WatchStep } from './cache-watch.ts';
import type { EventRing } from './event-ring.ts';
import { RevisionCompactedError } from '../interface.ts';
import type { KeyValue, Revision, StoreEvent, StoreWatch, WatchOptions } from '../interface.ts';
import { StoredObject } from '../stored-object.ts';

/** Maximum number of events, or of objects of the initial list, in a step. */
const STEP_LIMIT = 500;
/** Maximum bytes of the objects of a step, plus one object. */
const STEP_BYTES = 1 << 20;

/**
 * Maximum number of events that a reader may hold while it reads the store's history. Beyond it, or beyond {@link
 * ReaderSource.historyBytes}, the client has to list again.
 */
const BACKLOG_LIMIT = 100_000;

/** The keys and changes that a reader needs: keys under `prefix`, changes above `after`. */
export interface Interest {
  readonly prefix: string;
  readonly after: Revision;
}

/** The interface of the cache for its readers. */
export interface ReaderSource {
  ring(): EventRing;
  /** All events up to here are or were in the ring, and were delivered to waiting readers. */
  revision(): Revision;
  /** The relevant events at positions `from..to-1`, shared with other readers where possible. */
  batch(from: number, to: number, interest: Interest): EventBatch | undefined;
  eventOf(event: StoreEvent): CacheEvent;
  /** Registers a reader that waits at the end of the ring; the cache calls its {@link CacheReader.deliver} later. */
  park(reader: CacheReader): void;
  history(prefix: string, options: WatchOptions): Promise<StoreWatch>;
  /** Maximum bytes of values that a reader may hold, including the objects before the changes. */
  historyBytes(): number;
  /** Called when the reader is closed. */
  leave(reader: CacheReader): void;
}

interface InitialPhase {
  readonly kind: 'initial';
  readonly items: readonly KeyValue[];
  readonly revision: Revision;
  next: number;
}

/**
 * The state of reading events older than the ring from the store, up to `handover`, where the ring begins. The backlog belongs to an
 * embedded store, or to the reader for a store in another process. Encodings of its events are used for one step and not cached.
 */
interface HistoryPhase {
  readonly kind: 'history';
  readonly backlog: Ring<StoreEvent>;
  /** The bytes of the values in the backlog. */
  bytes: number;
  handover: { readonly position: number; readonly after: Revision } | undefined;
}

interface RingPhase {
  readonly kind: 'ring';
  position: number;
  /** Changes up to here were delivered before the reader joined the ring. */
  after: Revision;
  /** A reader that falls out of the ring counts as slow only if it reached the end of the ring before. */
  caughtUp: 'no' | 'yes';
}

interface ClosedPhase {
  readonly kind: 'closed';
  readonly step: WatchStep;
}

/**
 * The states of a reader: initial list (optional) → the store's history (if the ring does not reach back far enough) → the ring → closed.
 * Each state passes on the revision of its last delivery, so no event is lost or doubled.
 */
export class CacheReader implements CacheWatch {
  readonly prefix: string;
  readonly #source: ReaderSource;
  #phase: InitialPhase | HistoryPhase | RingPhase | ClosedPhase;
  #revision: Revision = 0;
  #waiting: ((step: WatchStep) => void) | undefined;
  #storeWatch: StoreWatch | undefined;
  /** `end of ring` means that no more events will come. */
  #lastsUntil: 'closed' | 'end of ring' = 'closed';

  constructor(source: ReaderSource, prefix: string) {
    this.#source = source;
    this.prefix = prefix;
    this.#phase = newHistory();
  }

  get revision(): Revision {
    const atEnd = this.#phase.kind === 'ring' && this.#waiting !== undefined;
    return atEnd ? Math.max(this.#revision, this.#source.revision()) : this.#revision;
  }

  get closed(): boolean {
    return this.#phase.kind === 'closed';
  }

  /** Starts with the state at `revision`. */
  startWithList(items: readonly KeyValue[], revision: Revision): void {
    this.#phase = { kind: 'initial', items, revision, next: 0 };
  }

  /** Continues after `after`. Rejects with RevisionCompactedError or RevisionFutureError. */
  async resume(after: Revision): Promise<void> {
    this.#revision = Math.max(this.#revision, after);
    const ring = this.#source.ring();
    if (after >= ring.floor) {
      this.#phase = { kind: 'ring', position: ring.positionAfter(after), after, caughtUp: 'no' };
      return;
    }
    const phase = newHistory();
    this.#phase = phase;
    const storeWatch = await this.#source.history(this.prefix, {
      startRevision: after + 1,
      onEvents: (events) => this.#addToBacklog(phase, events),
      onProgress: (revision) => this.#offerHandover(phase, revision),
      onClose: (error) => {
        if (this.#phase === phase && phase.handover === undefined) this.end('stopped', error);
      },
    });
    if (this.#phase !== phase || phase.handover !== undefined) storeWatch.cancel();
    else this.#storeWatch = storeWatch;
  }

  next(): Promise<WatchStep> {
    assert(this.#waiting === undefined, 'a watch has one reader that waits for one step');
    const step = this.#step();
    if (step !== undefined) return Promise.resolve(step);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.end('cancelled', undefined);
  }

  /** Ends after all events so far are delivered. */
  finish(): void {
    this.#lastsUntil = 'end of ring';
    const { kind } = this.#phase;
    const parked = kind === 'ring' && this.#waiting !== undefined;
    if (parked) this.end('stopped', undefined);
  }

  end(reason: WatchCloseReason, error: Error | undefined): void {
    if (this.#phase.kind === 'closed') return;
    this.#cancelStoreWatch();
    const step: WatchStep = error === undefined ? { kind: 'closed', reason } : { kind: 'closed', reason, error };
    this.#phase = { kind: 'closed', step };
    this.#source.leave(this);
    this.#answer(step);
  }

  /** Delivers the ring's events between two positions under the reader's prefix. Returns whether the reader still waits. */
  deliver(batch: EventBatch, { from, to }: { readonly from: number; readonly to: number }): 'waits' | 'goes on' {
    const phase = this.#phase;
    assert(
      phase.kind === 'ring' && this.#waiting !== undefined,
      'only readers at the end of the ring are delivered to',
    );
    if (phase.position > from) return this.#deliverRest();
    phase.position = to;
    let mine = batch;
    if ((batch.events[0]?.revision ?? 0) <= phase.after) {
      const events = batch.events.filter((event) => event.revision > phase.after);
      if (events.length === 0) return 'waits';
      mine = new EventBatch(events);
    }
    this.#revision = Math.max(this.#revision, this.#source.revision());
    this.#answer({ kind: 'events', batch: mine });
    return 'goes on';
  }

  /** The reader arrived when some of the events were already in the ring, and has read those. */
  #deliverRest(): 'waits' | 'goes on' {
    this.#wake();
    return this.#waiting === undefined ? 'goes on' : 'waits';
  }

  #step(): WatchStep | undefined {
    const phase = this.#phase;
    switch (phase.kind) {
      case 'closed':
        return phase.step;
      case 'initial':
        return this.#initialStep(phase);
      case 'history':
        return this.#historyStep(phase);
      case 'ring':
        return this.#ringStep(phase);
    }
  }

  #initialStep(phase: InitialPhase): WatchStep {
    const { items, revision } = phase;
    if (phase.next < items.length) {
      const events = items
        .slice(
          phase.next,
          stepEnd(phase.next, items.length, (index) => items[index]!.value.length),
        )
        .map((kv) => new CacheEvent({ type: 'ADDED', current: new StoredObject(kv) }));
      phase.next += events.length;
      return { kind: 'events', batch: new EventBatch(events) };
    }
    this.#resumeLater(revision);
    return { kind: 'initial-end', revision };
  }

  #historyStep(phase: HistoryPhase): WatchStep | undefined {
    const { backlog, handover } = phase;
    if (backlog.length > 0) {
      const end = stepEnd(0, backlog.length, (index) => bytesOf(backlog.at(index)!));
      const events = Array.from({ length: end }, () => {
        const event = backlog.popFront()!;
        phase.bytes -= bytesHeldBy(event);
        return this.#source.eventOf(event);
      });
      this.#revision = events.at(-1)?.revision ?? this.#revision;
      return { kind: 'events', batch: new EventBatch(events) };
    }
    if (handover === undefined) return undefined;
    this.#revision = Math.max(this.#revision, handover.after);
    const ring: RingPhase = { kind: 'ring', ...handover, caughtUp: 'no' };
    this.#phase = ring;
    return this.#ringStep(ring);
  }

  #ringStep(phase: RingPhase): WatchStep | undefined {
    const ring = this.#source.ring();
    while (phase.position < ring.end) {
      if (phase.position < ring.first) {
        if (phase.caughtUp === 'no') {
          this.#resumeLater(this.#revision);
          return undefined;
        }
        this.end('slow', undefined);
        return this.#step();
      }
      const to = stepEnd(phase.position, ring.end, (position) => ring.sizeOf(position));
      const batch = this.#source.batch(phase.position, to, { prefix: this.prefix, after: phase.after });
      const last = ring.revisionAt(to - 1) ?? 0;
      phase.position = to;
      const whole = to === ring.end ? this.#source.revision() : 0;
      this.#revision = Math.max(this.#revision, last, whole);
      if (batch !== undefined) return { kind: 'events', batch };
    }
    if (this.#lastsUntil === 'end of ring') {
      this.end('stopped', undefined);
      return this.#step();
    }
    phase.caughtUp = 'yes';
    this.#source.park(this);
    return undefined;
  }

  /** {@link resume} during a watch, where an error ends the watch. */
  #resumeLater(after: Revision): void {
    this.resume(after).then(
      () => {
        const phase = this.#phase;
        // The reader may already wait at the end of the ring, where the cache wakes it.
        if (phase.kind !== 'ring' || phase.caughtUp === 'no') this.#wake();
      },
      (error: Error) => this.end(error instanceof RevisionCompactedError ? 'expired' : 'stopped', error),
    );
  }

  #addToBacklog(phase: HistoryPhase, events: readonly StoreEvent[]): void {
    if (this.#phase !== phase || phase.handover !== undefined) return;
    const bound = this.#source.historyBytes();
    for (const event of events) {
      phase.bytes += bytesHeldBy(event);
      if (phase.backlog.pushBack(event) && phase.bytes <= bound) continue;
      this.end('expired', new RevisionCompactedError(this.#revision, this.#source.ring().floor));
      return;
    }
    this.#wake();
  }

  #offerHandover(phase: HistoryPhase, revision: Revision): void {
    const ring = this.#source.ring();
    if (this.#phase !== phase || phase.handover !== undefined || revision < ring.floor) return;
    phase.handover = { position: ring.positionAfter(revision), after: revision };
    this.#cancelStoreWatch();
    this.#wake();
  }

  #wake(): void {
    if (this.#waiting === undefined) return;
    const step = this.#step();
    if (step !== undefined) this.#answer(step);
  }

  #answer(step: WatchStep): void {
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve?.(step);
  }

  #cancelStoreWatch(): void {
    this.#storeWatch?.cancel();
    this.#storeWatch = undefined;
  }
}

function newHistory(): HistoryPhase {
  return { kind: 'history', backlog: new Ring({ bound: BACKLOG_LIMIT }), bytes: 0, handover: undefined };
}

/** The object of an event; for a deletion the deleted one. */
function bytesOf({ current, previous }: StoreEvent): number {
  return (current ?? previous)?.value.length ?? 0;
}

function bytesHeldBy({ current, previous }: StoreEvent): number {
  return (current?.value.length ?? 0) + (previous?.value.length ?? 0);
}

/** The position after the last entry of a step that begins at `from`, at most `end`. It is the same for all readers at that position. */
function stepEnd(from: number, end: number, sizeOf: (index: number) => number): number {
  let bytes = 0;
  let to = from;
  while (to < end && to - from < STEP_LIMIT && bytes < STEP_BYTES) bytes += sizeOf(to++);
  return to;
}
