import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import { asError } from '../../../base/errors/thrown.ts';
import type { Revision, StoreEvent, StoreWatch, WatchOptions } from '../interface.ts';
import { PrefixTable } from '../prefix-table.ts';
import { StoreClosedError, StoreRewoundError } from '../store-errors.ts';
import type { EtcdClient } from './etcd-client.ts';
import type { EtcdKeys } from './etcd-keys.ts';
import { watchKeySpace } from './key-space-watch.ts';
import { RecentEvents } from './recent-events.ts';
import { ToldRevisions } from './told-revisions.ts';

export interface EtcdFeedOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Rejects with RevisionCompactedError or RevisionFutureError if not all changes above `after` can be delivered. */
  readonly assertReadable: (after: Revision) => Promise<void>;
  /** Called when etcd went back to an earlier revision. */
  readonly onRewound: () => void;
}

interface Watcher {
  readonly prefix: string;
  readonly options: WatchOptions;
  /** All changes up to here were delivered, or were not needed. */
  after: Revision;
  phase: 'catching-up' | 'live' | 'ended';
  /** Stops reading history. */
  readonly own: AbortController;
  /** Events of the current dispatch. */
  batch: StoreEvent[];
}

/**
 * The watches of one server over one etcd watch, which starts with the first. A watch that begins in the past gets recent events from
 * memory; an older one reads etcd's history by a separate watch until it reaches the others. Nothing is queued: a watcher has consumed an
 * event when its callback returns, and etcd is read no faster.
 */
export class EtcdFeed {
  readonly #options: EtcdFeedOptions;
  readonly #live = new PrefixTable<Watcher>();
  readonly #catchingUp = new Set<Watcher>();
  readonly #stopping = new AbortController();
  #recent: RecentEvents | undefined;
  #started: Promise<RecentEvents> | undefined;
  readonly #told: ToldRevisions;
  /** The error that ended the previous feed. */
  #broken: Error | undefined;

  constructor(options: EtcdFeedOptions) {
    this.#options = options;
    this.#told = new ToldRevisions(options.clock);
  }

  async add(prefix: string, options: WatchOptions): Promise<StoreWatch> {
    const after = options.startRevision - 1;
    const recent = await this.#start();
    const watcher: Watcher = {
      prefix,
      options,
      after,
      phase: 'catching-up',
      own: new AbortController(),
      batch: [],
    };
    if (after < recent.floor || after > recent.revision) await this.#options.assertReadable(after);
    if (this.#stopping.signal.aborted) throw new StoreClosedError();
    this.#catchingUp.add(watcher);
    this.#options.clock.defer(() => this.#join(watcher));
    return { cancel: () => this.#remove(watcher) };
  }

  /** Resolves when the watches have received everything up to `revision`; at once if there are none. See {@link ToldRevisions}. */
  told(revision: Revision): Promise<void> {
    return this.#recent === undefined ? Promise.resolve() : this.#told.reached(revision);
  }

  /** Ends all watches. The feed cannot be used afterwards. */
  stop(): void {
    this.#stopping.abort();
    this.#told.releaseAll();
    this.#end(undefined);
  }

  #start(): Promise<RecentEvents> {
    if (this.#stopping.signal.aborted) return Promise.reject(new StoreClosedError());
    this.#started ??= this.#begin().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #begin(): Promise<RecentEvents> {
    const recent = new RecentEvents(await this.#options.client.currentRevision());
    this.#recent = recent;
    this.#told.restart(recent.revision);
    const onChanges = (events: readonly StoreEvent[], revision: Revision): void => {
      recent.add(events, revision);
      this.#dispatch(events, revision);
      this.#told.advance(revision);
    };
    watchKeySpace({ ...this.#options, after: recent.revision, onChanges }, this.#stopping.signal).catch(
      (error: Error) => {
        this.#options.logger.warn('watches have to begin anew', { error: error.message });
        // All state is invalid, so the next watch starts again.
        this.#started = undefined;
        this.#recent = undefined;
        this.#broken = error;
        if (error instanceof StoreRewoundError) this.#options.onRewound();
        this.#told.releaseAll();
        this.#end(error);
      },
    );
    return recent;
  }

  /** Makes a watcher live if all missing events are in memory; otherwise it reads history. */
  #join(watcher: Watcher): void {
    if (watcher.phase === 'catching-up' && !this.#meet(watcher)) this.#readHistory(watcher);
  }

  #meet(watcher: Watcher): boolean {
    const recent = this.#recent;
    if (recent === undefined) {
      this.#close(watcher, this.#broken);
      return true;
    }
    if (watcher.after < recent.floor) return false;
    watcher.phase = 'live';
    this.#catchingUp.delete(watcher);
    this.#live.add(watcher.prefix, watcher);
    const missed = recent.since(watcher.after).filter((event) => event.key.startsWith(watcher.prefix));
    watcher.after = Math.max(watcher.after, recent.revision);
    this.#tell(watcher, missed, watcher.after);
    return true;
  }

  #readHistory(watcher: Watcher): void {
    const { after, own } = watcher;
    const onChanges = (events: readonly StoreEvent[], revision: Revision): void => {
      if (watcher.phase !== 'catching-up') return;
      watcher.after = revision;
      this.#tell(
        watcher,
        events.filter((event) => event.key.startsWith(watcher.prefix)),
        revision,
      );
      if (watcher.phase === 'catching-up' && this.#meet(watcher)) own.abort();
    };
    watchKeySpace({ ...this.#options, after, onChanges }, own.signal).catch((error: Error) => {
      if (watcher.phase === 'catching-up') this.#close(watcher, error);
    });
  }

  #dispatch(events: readonly StoreEvent[], revision: Revision): void {
    const touched: Watcher[] = [];
    for (const event of events) {
      this.#live.forEachMatch(event.key, (watcher) => {
        if (event.revision <= watcher.after) return;
        if (watcher.batch.length === 0) touched.push(watcher);
        watcher.batch.push(event);
      });
    }
    for (const watcher of touched) {
      const { batch } = watcher;
      watcher.batch = [];
      this.#tell(watcher, batch, undefined);
    }
    for (const watcher of this.#live.members()) {
      if (revision <= watcher.after) continue;
      watcher.after = revision;
      this.#tell(watcher, [], revision);
    }
  }

  /** A callback may cancel its own watch or another one. If it throws, only its own watch ends. */
  #tell(watcher: Watcher, events: readonly StoreEvent[], progress: Revision | undefined): void {
    const isEnded = (): boolean => watcher.phase === 'ended';
    try {
      if (events.length > 0 && !isEnded()) watcher.options.onEvents(events);
      if (progress !== undefined && !isEnded()) watcher.options.onProgress?.(progress);
    } catch (error) {
      this.#close(watcher, asError(error));
    }
  }

  #end(error: Error | undefined): void {
    for (const watcher of [...this.#catchingUp, ...this.#live.members()]) this.#close(watcher, error);
  }

  #close(watcher: Watcher, error: Error | undefined): void {
    if (watcher.phase === 'ended') return;
    this.#remove(watcher);
    watcher.options.onClose?.(error);
  }

  #remove(watcher: Watcher): void {
    watcher.phase = 'ended';
    watcher.own.abort();
    this.#catchingUp.delete(watcher);
    this.#live.delete(watcher.prefix, watcher);
  }
}
