import { timeoutSignal } from '../../../base/time/abort.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import {
  type DeleteResult,
  type GetResult,
  type KeyValue,
  type ListOptions,
  type ListResult,
  type Revision,
  RevisionCompactedError,
  RevisionFutureError,
  type Store,
  type StoreWatch,
  type UnchangedKey,
  type WatchOptions,
  type WriteOptions,
  type WriteResult,
} from '../interface.ts';
import {
  StoreClosedError,
  StoreFullError,
  StoreOutcomeUnknownError,
  StoreRefusedError,
  StoreTooLargeError,
  StoreUnavailableError,
} from '../store-errors.ts';
import { BatchedReads } from './batched-reads.ts';
import type { EtcdAnswer, EtcdClient } from './etcd-client.ts';
import type { RangeFields, TxnFields } from './etcd-connection.ts';
import { EtcdError } from './etcd-failure.ts';
import { EtcdFeed } from './etcd-feed.ts';
import { ALL_KEYS, type EtcdKeys } from './etcd-keys.ts';
import { EtcdLeases } from './etcd-leases.ts';
import { toKeyValue } from './key-space-watch.ts';
import type { KeyValue as EtcdKeyValue, TxnResponse } from './rpc.generated.ts';

/** Number of keys of a list's first page. Later pages are sized by the bytes of the previous one. */
const FIRST_PAGE = 100;
const LARGEST_PAGE = 10_000;
const PAGE_BYTES = 8 << 20;

/** Maximum wait for the answer that contains the compacted revision; a member checks such watches ten times a second. */
const COMPACTED_REVISION_MS = 2_000;

/** `Compare`: the revision of the last change is equal. */
const EQUAL = 0;
const MOD = 2;

export interface EtcdStoreOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The {@link Store} contract over etcd v3. Holds no objects: reads are linearizable reads of etcd, and all watches share one watch on it.
 */
export class EtcdStore implements Store {
  readonly expiry = 'leases';
  readonly writers = 'several servers';
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #keys: EtcdKeys;
  readonly #feed: EtcdFeed;
  readonly #leases: EtcdLeases;
  readonly #reads: BatchedReads;
  /** The highest known compacted revision; another server may have compacted further. */
  #compacted: Revision = 0;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor({ client, keys, clock, random, logger }: EtcdStoreOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#keys = keys;
    this.#reads = new BatchedReads({ client, keys });
    this.#leases = new EtcdLeases({ client, clock });
    this.#feed = new EtcdFeed({
      client,
      keys,
      clock,
      random,
      logger,
      assertReadable: (after) => this.#assertReadable(after),
      onRewound: () => {
        this.#compacted = 0;
      },
    });
  }

  get(key: string): Promise<GetResult> {
    return this.#run(() => this.#reads.get(key));
  }

  list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    return this.#run(() => this.#list(prefix, options));
  }

  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.update(key, value, 0, options);
  }

  update(key: string, value: Uint8Array, expected: Revision, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#run(async () => {
      const { ttlMs, unchanged } = options;
      const write = { key, value, expected, unchanged };
      if (ttlMs === undefined) return this.#put({ ...write, lease: 0n });
      try {
        return await this.#put({ ...write, lease: await this.#leases.lease(ttlMs) });
      } catch (error) {
        if (!(error instanceof EtcdError) || error.failure.kind !== 'no-lease') throw error;
        this.#leases.forget(ttlMs);
        return this.#put({ ...write, lease: await this.#leases.lease(ttlMs) });
      }
    });
  }

  delete(key: string, expected: Revision): Promise<DeleteResult> {
    return this.#run(async () => {
      const bytes = this.#keys.encode(key);
      const answer = await this.#guarded({ key: bytes, expected }, [
        { request: { case: 'requestDeleteRange', value: { key: bytes, prevKv: true } } },
      ]);
      const { succeeded, responses, header } = answer.response;
      const revision = Number(header?.revision ?? 0n);
      if (succeeded) {
        const [first] = responses;
        const removed = first?.response.case === 'responseDeleteRange' ? first.response.value.prevKvs[0] : undefined;
        if (removed === undefined) throw new StoreRefusedError('etcd did not send the deleted value');
        await this.#feed.told(revision);
        return { succeeded, kv: toKeyValue(removed, key), revision };
      }
      const current = currentOf(answer, key);
      // The key existed all the time, so no unanswered attempt deleted it.
      const same = current !== undefined && current.createRevision <= expected;
      if (answer.earlier === 'maybe applied' && !same) throw new StoreOutcomeUnknownError();
      return refusal(current, revision);
    });
  }

  watch(prefix: string, options: WatchOptions): Promise<StoreWatch> {
    return this.#run(async () => {
      const { startRevision } = options;
      if (startRevision <= this.#compacted) throw new RevisionCompactedError(startRevision, this.#compacted);
      return this.#feed.add(prefix, options);
    });
  }

  currentRevision(): Promise<Revision> {
    return this.#run(() => this.#reads.currentRevision());
  }

  compact(revision: Revision): Promise<void> {
    return this.#run(async () => {
      try {
        await this.#client.compact(revision);
      } catch (error) {
        const kind = error instanceof EtcdError ? error.failure.kind : undefined;
        if (kind === 'future') throw new RevisionFutureError(revision, await this.#client.currentRevision());
        if (kind !== 'compacted') throw error;
      }
      this.#compacted = Math.max(this.#compacted, revision);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // The timeout of a call bounds the wait.
    await Promise.allSettled(this.#underWay);
    this.#feed.stop();
    this.#client.close();
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StoreClosedError();
    const running = work();
    this.#underWay.add(running);
    try {
      return await running;
    } catch (error) {
      throw error instanceof EtcdError ? storeError(error) : error;
    } finally {
      this.#underWay.delete(running);
    }
  }

  async #put(write: {
    readonly key: string;
    readonly value: Uint8Array;
    readonly expected: Revision;
    readonly unchanged: UnchangedKey | undefined;
    readonly lease: bigint;
  }): Promise<WriteResult> {
    const { key, value, expected, unchanged, lease } = write;
    const bytes = this.#keys.encode(key);
    const answer = await this.#guarded({ key: bytes, expected, unchanged }, [
      { request: { case: 'requestPut', value: { key: bytes, value, lease } } },
      // The answer of a put lacks the create revision.
      ...(expected === 0
        ? []
        : [{ request: { case: 'requestRange', value: { key: bytes, keysOnly: true } } } as const]),
    ]);
    const { succeeded, responses, header } = answer.response;
    const revision = Number(header?.revision ?? 0n);
    if (succeeded) {
      const looked = responses[1]?.response;
      const kv = looked?.case === 'responseRange' ? looked.value.kvs[0] : undefined;
      const createRevision = kv === undefined ? revision : Number(kv.createRevision);
      await this.#feed.told(revision);
      return { succeeded, kv: { key, value, createRevision, modRevision: revision } };
    }
    const current = currentOf(answer, key);
    if (answer.earlier === 'maybe applied') {
      // If the written value is there, the unanswered attempt was applied, because no other client writes the same uid, times and managers.
      if (current !== undefined && Buffer.compare(current.value, value) === 0) return { succeeded: true, kv: current };
      throw new StoreOutcomeUnknownError();
    }
    return refusal(current, revision);
  }

  /** One transaction: if the last changes of key and other key are the expected ones, the operations; otherwise a read of the key. */
  #guarded(
    { key, expected, unchanged }: Guard,
    success: NonNullable<TxnFields['success']>,
  ): Promise<EtcdAnswer<TxnResponse>> {
    const other = unchanged === undefined ? [] : [lastChange(this.#keys.encode(unchanged.key), unchanged.revision)];
    return this.#client.txn({
      compare: [lastChange(key, expected), ...other],
      success,
      failure: [{ request: { case: 'requestRange', value: { key } } }],
    });
  }

  async #list(prefix: string, { start, limit = 0, revision, countRemaining }: ListOptions): Promise<ListResult> {
    const { rangeEnd, key } = this.#keys.range(prefix, start);
    const items: KeyValue[] = [];
    let from = key;
    let at = revision;
    let page = FIRST_PAGE;
    // The loop is bounded: each page begins after the last key of the previous one, all at one revision.
    for (;;) {
      const wanted = limit === 0 ? page : Math.min(page, limit - items.length);
      const answer = await this.#range({ key: from, rangeEnd, limit: BigInt(wanted), revision: BigInt(at ?? 0) }, at);
      at ??= Number(answer.header?.revision ?? 0n);
      let bytes = 0;
      for (const kv of answer.kvs) {
        items.push(this.#item(kv));
        bytes += kv.value.length;
      }
      const last = answer.kvs.at(-1);
      const complete = limit !== 0 && items.length >= limit;
      if (!answer.more || last === undefined || complete) {
        const remaining = Number(answer.count) - answer.kvs.length;
        return { items, more: answer.more, revision: at, ...(countRemaining === true ? { remaining } : {}) };
      }
      from = Buffer.concat([last.key, Uint8Array.of(0)]);
      const average = Math.max(1, bytes / answer.kvs.length);
      page = Math.min(LARGEST_PAGE, Math.max(1, Math.floor(PAGE_BYTES / average)));
    }
  }

  /** `at` is the requested revision, if any. */
  async #range(request: RangeFields, at: Revision | undefined) {
    try {
      return await this.#client.range(request);
    } catch (error) {
      if (!(error instanceof EtcdError) || at === undefined) throw error;
      if (error.failure.kind === 'compacted') throw new RevisionCompactedError(at, await this.#compactedRevision());
      if (error.failure.kind === 'future') throw new RevisionFutureError(at, await this.#client.currentRevision());
      throw error;
    }
  }

  #item(kv: EtcdKeyValue): KeyValue {
    const key = this.#keys.decode(kv.key);
    if (key === undefined) throw new StoreRefusedError('etcd answers with keys that were not asked for');
    return toKeyValue(kv, key);
  }

  async #assertReadable(after: Revision): Promise<void> {
    // The state at `after` is readable exactly as long as all changes above it can be delivered. There is nothing before revision 1.
    const at = Math.max(1, after);
    await this.#range({ key: ALL_KEYS.key, countOnly: true, revision: BigInt(at) }, at).catch((error: unknown) => {
      if (error instanceof RevisionFutureError) throw new RevisionFutureError(after, error.currentRevision);
      if (error instanceof RevisionCompactedError) throw new RevisionCompactedError(after + 1, error.compactedRevision);
      throw error;
    });
  }

  /** Reads the compacted revision from the refusal of a watch from the beginning, because no other call returns it. */
  async #compactedRevision(): Promise<Revision> {
    using asking = timeoutSignal(this.#clock, COMPACTED_REVISION_MS);
    try {
      const create = { ...ALL_KEYS, startRevision: 1n };
      for await (const { compactRevision, events } of this.#client.watch(create, asking.signal)) {
        this.#compacted = Math.max(this.#compacted, Number(compactRevision));
        if (compactRevision > 0n || events.length > 0) break;
      }
    } catch (error) {
      // The result only makes a message more precise, so errors are ignored.
      if (!asking.signal.aborted && !(error instanceof EtcdError)) throw error;
    } finally {
      asking.abort();
    }
    return this.#compacted;
  }
}

interface Guard {
  readonly key: Uint8Array;
  readonly expected: Revision;
  readonly unchanged?: UnchangedKey | undefined;
}

/** Compares the revision of a key's last change; 0 stands for a key that does not exist. */
function lastChange(key: Uint8Array, revision: Revision) {
  return { result: EQUAL, target: MOD, key, targetUnion: { case: 'modRevision', value: BigInt(revision) } } as const;
}

function currentOf({ response }: EtcdAnswer<TxnResponse>, key: string): KeyValue | undefined {
  const [first] = response.responses;
  const kv = first?.response.case === 'responseRange' ? first.response.value.kvs[0] : undefined;
  return kv === undefined ? undefined : toKeyValue(kv, key);
}

function refusal(current: KeyValue | undefined, revision: Revision) {
  return current === undefined
    ? ({ succeeded: false, revision } as const)
    : ({ succeeded: false, current, revision } as const);
}

function storeError(error: EtcdError): Error {
  const { failure } = error;
  switch (failure.kind) {
    case 'away':
      return failure.applied === 'maybe'
        ? new StoreOutcomeUnknownError(error)
        : new StoreUnavailableError(failure.message, error);
    case 'stale-token':
    case 'denied':
      return new StoreUnavailableError(failure.message, error);
    case 'no-space':
      return new StoreFullError(failure.message, error);
    case 'too-large':
      return new StoreTooLargeError(failure.message, error);
    case 'compacted':
    case 'future':
    case 'no-lease':
    case 'other':
      return new StoreRefusedError(failure.message, error);
  }
}
