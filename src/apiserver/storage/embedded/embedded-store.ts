import { append } from '../../../base/collections/append.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type {
  DeleteResult,
  GetResult,
  KeyValue,
  ListOptions,
  ListResult,
  Revision,
  Store,
  StoreWatch,
  WatchOptions,
  WriteOptions,
  WriteResult,
} from '../interface.ts';
import type { Journal } from './journal.ts';
import type { Change, MultiVersionMap, WriteDecision } from './mvcc.ts';
import { StoreClosedError, StoreFailedError, StoreFullError, StoreOverloadedError } from '../store-errors.ts';
import { StoreWatchers } from './store-watchers.ts';

export interface EmbeddedStoreLimits {
  /** Maximum number of operations that wait for the disk. */
  readonly maxWaiting: number;
  /** Maximum bytes of values that wait for the disk. */
  readonly maxWaitingBytes: number;
  /** Maximum size of history before its oldest part is compacted automatically: bytes (estimated) and changes. */
  readonly maxHistoryBytes: number;
  readonly maxHistoryChanges: number;
}

/** The number of changes that history keeps, whatever its size (API-137). */
const KEPT_CHANGES = 10_000;

export const defaultLimits: EmbeddedStoreLimits = {
  maxWaiting: 16_384,
  maxWaitingBytes: 256 << 20,
  maxHistoryBytes: 256 << 20,
  maxHistoryChanges: 1_000_000,
};

/** Maximum changes, bytes and forgotten entries of one commit. They bound the wait of the next commit, and fit into a redo log. */
const COMMIT_CHANGES = 4096;
const COMMIT_BYTES = 512 << 10;
const COMMIT_FORGETS = 256;

/** Number of changes that compaction handles in one turn of the event loop. */
const COMPACT_SLICE = 4096;

/** Interval between attempts to write while the disk is full, ms. */
const FULL_RETRY_MS = 1000;

/** The most entries of history and of waiting changes, for {@link MultiVersionMap}. */
export function historyBound(limits: EmbeddedStoreLimits): number {
  return 2 * (limits.maxHistoryChanges + limits.maxWaiting + KEPT_CHANGES);
}

/** Compacts a map during a restore, so that a long journal stays within the bounds of history. */
export function trimHistory(map: MultiVersionMap, limits: EmbeddedStoreLimits): Revision[] {
  const target = compactionTarget(map, limits);
  if (target === undefined) return [];
  map.compact(target);
  return map.dropHistory(Infinity).dropped;
}

export interface EmbeddedStoreOptions {
  /** Empty, or restored from the journal. */
  readonly map: MultiVersionMap;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: EmbeddedStoreLimits;
  /** If absent, no data outlives the process. */
  readonly journal?: JournalState;
}

export interface JournalState {
  readonly journal: Journal;
  /** The compacted revision in the journal; that of the map may be newer. */
  readonly compacted: Revision;
  /**
   * Entries of the journal that are no longer needed, in the order in which they must be removed. The next commits remove
   * them: a server that only reads writes nothing, also on a full disk.
   */
  readonly forget: readonly Revision[];
}

/** An answer that waits until all changes up to `revision` are published. */
interface Waiting {
  readonly revision: Revision;
  readonly answer: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * A store in this process: the {@link MultiVersionMap} decides, the {@link Journal} makes changes durable, in groups: all changes that
 * arrive during a commit go into the next one.
 *
 * The life of a write: decided against the pending state → queued → committed → published (readers and watches see it) → answered. A
 * refusal is answered as soon as the state that it saw is published. If a commit fails, all waiting writes are rejected, and none of them
 * was ever visible. If the disk was full, writes continue when it has space again; after any other failure the store accepts no more
 * writes.
 */
export class EmbeddedStore implements Store {
  readonly #map: MultiVersionMap;
  readonly #watchers: StoreWatchers;
  readonly #journal: Journal | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limits: EmbeddedStoreLimits;
  /** Decided changes that are not in the journal yet; consumed from `#queueStart` on. */
  #queue: Change[] = [];
  #queueStart = 0;
  #queueBytes = 0;
  /** In the order of their revisions. At most `maxWaiting`. */
  #waiting: Waiting[] = [];
  #waitingStart = 0;
  #forget: Revision[];
  #forgetStart = 0;
  /** The compacted revision in the journal. */
  #journaledCompaction: Revision;
  #compactionWaiters: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #compacting: 'no' | 'yes' = 'no';
  #committer: Promise<void> | undefined;
  #state: 'open' | 'closing' | { readonly failed: Error } = 'open';
  /** Set while the disk is full. */
  #full: { readonly error: StoreFullError; timer: Timer } | undefined;
  #makingRoom: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor({ map, clock, logger, limits, journal: state }: EmbeddedStoreOptions) {
    this.#map = map;
    this.#clock = clock;
    this.#logger = logger;
    this.#limits = limits;
    this.#journal = state?.journal;
    this.#forget = [...(state?.forget ?? [])];
    this.#journaledCompaction = state?.compacted ?? 0;
    this.#watchers = new StoreWatchers({ map, clock });
  }

  /** The reason why it accepts no more writes; undefined while it does. */
  get failure(): Error | undefined {
    return typeof this.#state === 'object' ? this.#state.failed : this.#full?.error;
  }

  async get(key: string): Promise<GetResult> {
    this.#assertReadable();
    const kv = this.#map.get(key);
    const revision = this.#map.published;
    return kv === undefined ? { revision } : { kv, revision };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.#assertReadable();
    return this.#map.list(prefix, options);
  }

  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.#write(value.length, () => this.#map.create(key, value, options?.unchanged), writeResult);
  }

  update(key: string, value: Uint8Array, expected: Revision, options?: WriteOptions): Promise<WriteResult> {
    return this.#write(value.length, () => this.#map.update(key, value, expected, options?.unchanged), writeResult);
  }

  delete(key: string, expected: Revision): Promise<DeleteResult> {
    return this.#write(0, () => this.#map.delete(key, expected), deleteResult);
  }

  async watch(prefix: string, options: WatchOptions): Promise<StoreWatch> {
    this.#assertReadable();
    return this.#watchers.add(prefix, options);
  }

  async currentRevision(): Promise<Revision> {
    this.#assertReadable();
    return this.#map.published;
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertWritable();
    if (revision <= this.#map.compacted) return;
    this.#map.compact(revision);
    this.#dropCompacted();
    if (this.#journal === undefined) return;
    await new Promise<void>((resolve, reject) => {
      this.#compactionWaiters.push({ resolve, reject });
      this.#wakeCommitter();
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    this.#full?.timer.cancel();
    await this.#makingRoom;
    while (this.#committer !== undefined) await this.#committer;
    this.#watchers.end(undefined);
    await this.#journal?.close();
  }

  /** Decides a write, and answers when the decision is published, or, for a refusal, when the state that it saw is published. */
  #write<R>(
    bytes: number,
    decide: () => WriteDecision,
    result: (d: WriteDecision, published: Revision) => R,
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#assertWritable();
      const waiting = this.#waiting.length - this.#waitingStart;
      if (waiting >= this.#limits.maxWaiting || this.#queueBytes + bytes > this.#limits.maxWaitingBytes) {
        throw new StoreOverloadedError(waiting, this.#queueBytes);
      }
      const decision = decide();
      const answer = (): void => resolve(result(decision, this.#map.published));
      if (decision.outcome === 'refused' && decision.seen <= this.#map.published) {
        answer();
        return;
      }
      // A refusal waits for all pending changes, not only for those it saw, so that the queue stays in revision order.
      this.#waiting.push({ revision: this.#map.revision, answer, reject });
      if (decision.outcome === 'refused') return;
      this.#queue.push(decision.change);
      this.#queueBytes += bytes;
      this.#wakeCommitter();
    });
  }

  #wakeCommitter(): void {
    this.#committer ??= Promise.resolve().then(() => this.#commitAll());
  }

  /** Runs until the queue is empty. Never rejects: after a failure the store accepts no writes. */
  async #commitAll(): Promise<void> {
    try {
      while (this.#hasWork()) {
        const changes = this.#takeChanges();
        if (this.#journal !== undefined) await this.#commit(this.#journal, changes);
        this.#publish(changes);
      }
    } catch (error) {
      if (error instanceof StoreFullError) this.#waitForRoom(error);
      else this.#fail(error);
    } finally {
      this.#committer = undefined;
    }
  }

  #hasWork(): boolean {
    if (typeof this.#state === 'object' || this.#full !== undefined) return false;
    if (this.#queueStart < this.#queue.length || this.#compactionWaiters.length > 0) return true;
    // Superfluous entries on disk can also be removed after the next start.
    return this.#state === 'open' && this.#forgetStart < this.#forget.length;
  }

  #takeChanges(): Change[] {
    let bytes = 0;
    let end = this.#queueStart;
    while (end < this.#queue.length && end - this.#queueStart < COMMIT_CHANGES && bytes < COMMIT_BYTES) {
      bytes += this.#queue[end++]?.value?.length ?? 0;
    }
    const changes = this.#queue.slice(this.#queueStart, end);
    this.#queueStart = end;
    this.#queueBytes -= bytes;
    if (end === this.#queue.length) {
      this.#queue = [];
      this.#queueStart = 0;
    }
    return changes;
  }

  async #commit(journal: Journal, changes: readonly Change[]): Promise<void> {
    const forget = this.#forget.slice(this.#forgetStart, this.#forgetStart + COMMIT_FORGETS);
    const { compacted } = this.#map;
    const waiters = this.#compactionWaiters;
    this.#compactionWaiters = [];
    try {
      await journal.commit({ changes, forget, ...(compacted > this.#journaledCompaction && { compacted }) });
    } catch (error) {
      append(this.#compactionWaiters, waiters);
      throw error;
    }
    this.#forgetStart += forget.length;
    if (this.#forgetStart === this.#forget.length) {
      this.#forget = [];
      this.#forgetStart = 0;
    }
    this.#journaledCompaction = compacted;
    for (const { resolve } of waiters) resolve();
  }

  #publish(changes: readonly Change[]): void {
    const last = changes.at(-1);
    if (last === undefined) return;
    const from = this.#map.published + 1;
    this.#map.publish(last.modRevision);
    this.#watchers.dispatch(from, last.modRevision);
    for (; this.#waitingStart < this.#waiting.length; this.#waitingStart++) {
      const waiting = this.#waiting[this.#waitingStart];
      if (waiting === undefined || waiting.revision > last.modRevision) break;
      waiting.answer();
    }
    // Answered entries are removed in groups, not one by one.
    if (this.#waitingStart * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#waitingStart);
      this.#waitingStart = 0;
    }
    const target = compactionTarget(this.#map, this.#limits);
    if (target !== undefined) {
      this.#map.compact(target);
      this.#dropCompacted();
    }
  }

  /** Releases memory of compacted history, a part per turn. */
  #dropCompacted(): void {
    if (this.#compacting === 'yes') return;
    const { dropped, more } = this.#map.dropHistory(COMPACT_SLICE);
    if (this.#journal !== undefined && dropped.length > 0) {
      for (const revision of dropped) this.#forget.push(revision);
      this.#wakeCommitter();
    }
    if (!more) return;
    this.#compacting = 'yes';
    this.#clock.defer(() => {
      this.#compacting = 'no';
      if (this.#state === 'open') this.#dropCompacted();
    });
  }

  #fail(cause: unknown): void {
    const error = new StoreFailedError(cause);
    this.#logger.error('a write could not be made durable: writes are refused from now on, reads go on; restart', {
      error: error.message,
    });
    this.#state = { failed: error };
    this.#rejectAll(error);
  }

  #waitForRoom(error: StoreFullError): void {
    this.#logger.error('the disk is full: writes are refused until it has room, reads go on', { error: error.message });
    this.#map.rollBack();
    this.#retryLater(error);
    this.#rejectAll(error);
  }

  #retryLater(error: StoreFullError): void {
    if (this.#state !== 'open') return;
    const timer = this.#clock.setTimer(FULL_RETRY_MS, () => {
      this.#makingRoom = this.#makeRoom(error).finally(() => {
        this.#makingRoom = undefined;
      });
    });
    this.#full = { error, timer };
  }

  /** Never rejects. */
  async #makeRoom(before: StoreFullError): Promise<void> {
    try {
      await this.#journal?.makeRoom();
      this.#full = undefined;
      this.#logger.info('the disk has room again: writes go on');
      if (this.#hasWork()) this.#wakeCommitter();
    } catch (error) {
      if (error instanceof StoreFullError) this.#retryLater(before);
      else this.#fail(error);
    }
  }

  #rejectAll(error: Error): void {
    const waiting = this.#waiting.slice(this.#waitingStart);
    const compactions = this.#compactionWaiters;
    this.#waiting = [];
    this.#waitingStart = 0;
    this.#compactionWaiters = [];
    this.#queue = [];
    this.#queueStart = 0;
    this.#queueBytes = 0;
    for (const { reject } of [...waiting, ...compactions]) reject(error);
  }

  #assertReadable(): void {
    if (this.#state === 'closing' || this.#closed !== undefined) throw new StoreClosedError();
  }

  #assertWritable(): void {
    this.#assertReadable();
    if (this.failure !== undefined) throw this.failure;
  }
}

function compactionTarget(map: MultiVersionMap, limits: EmbeddedStoreLimits): Revision | undefined {
  const { historyBytes, historyLength } = map;
  if (historyBytes <= limits.maxHistoryBytes && historyLength <= limits.maxHistoryChanges) return undefined;
  // Compacts an eighth more than needed, so that compaction does not run for every write at the limit.
  return map.compactionTarget({
    bytes: limits.maxHistoryBytes * 0.875,
    changes: limits.maxHistoryChanges * 0.875,
    keep: KEPT_CHANGES,
  });
}

function writeResult(decision: WriteDecision, published: Revision): WriteResult {
  if (decision.outcome === 'refused') return refusal(decision.current, published);
  return { succeeded: true, kv: decision.change as KeyValue };
}

function deleteResult(decision: WriteDecision, published: Revision): DeleteResult {
  if (decision.outcome === 'refused') return refusal(decision.current, published);
  return { succeeded: true, kv: decision.removed as KeyValue, revision: decision.change.modRevision };
}

function refusal(current: KeyValue | undefined, revision: Revision) {
  return current === undefined
    ? ({ succeeded: false, revision } as const)
    : ({ succeeded: false, current, revision } as const);
}
