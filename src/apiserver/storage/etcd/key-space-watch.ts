import { linkSignals } from '../../../base/time/abort.ts';
import { exponentialBackoff } from '../../../base/time/backoff.ts';
import { type Clock, sleepUnlessAborted } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import { type KeyValue, type Revision, RevisionCompactedError, type StoreEvent } from '../interface.ts';
import { StoreRewoundError } from '../store-errors.ts';
import type { EtcdClient } from './etcd-client.ts';
import { EtcdError, saysStaleToken } from './etcd-failure.ts';
import { ALL_KEYS, type EtcdKeys } from './etcd-keys.ts';
import type { Event, KeyValue as EtcdKeyValue, WatchResponse } from './rpc.generated.ts';

const EVENT_DELETE = 1;

/** Maximum unrelated memory that a kept value may retain. */
const SPARE_BYTES = 2_048;

/** Retry delay after a member's watch broke, which doubles up to the cap; retries never stop. */
const RETRY_MS = 50;
const RETRY_CAP_MS = 2_000;
/** A watch that lasted this long resets the delay. */
const CALM_MS = 10_000;

export interface KeySpaceWatchOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Changes above this revision are delivered. */
  readonly after: Revision;
  /** Receives all changes up to `revision`; `events` has only those of the store's own keys. Must not throw. */
  readonly onChanges: (events: readonly StoreEvent[], revision: Revision) => void;
}

/**
 * Follows every change of the whole key space, over lost connections and members, each revision exactly once and as a whole.
 *
 * It watches the whole key space and not only the store's keys, because then every revision shows itself as an event. Its events alone show
 * how far the watch has come, without progress requests: etcd before 3.4.25 and 3.5.8 answers these too early (it promises revisions whose
 * events are still to come). Progress notifications are requested as signs of life only.
 *
 * Ends by abort, or rejects: RevisionCompactedError when history above the last reported revision is gone, StoreRewoundError when etcd is
 * behind the revisions that it has reported already (restored from a backup, or another cluster).
 */
export async function watchKeySpace(options: KeySpaceWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, logger, client } = options;
  const resetAfter = { clock, ms: CALM_MS };
  const backoff = exponentialBackoff({ baseMs: RETRY_MS, capMs: RETRY_CAP_MS, jitter: 0.5, random, resetAfter });
  const position = new Position(options);
  let troubleTold = '';
  while (!signal.aborted) {
    const endpoint = client.endpoint;
    try {
      await follow(position, options, signal, () => {
        if (troubleTold !== '') logger.info('etcd watch resumed', { endpoint });
        troubleTold = '';
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof EtcdError)) throw error;
      const { message } = error;
      const level = message === troubleTold ? 'debug' : 'warn';
      troubleTold = message;
      logger[level]('etcd watch failed, will retry', { endpoint, error: message });
    }
    await sleepUnlessAborted(clock, backoff.next(), signal);
  }
}

/** One watch on one member. */
async function follow(
  position: Position,
  options: KeySpaceWatchOptions,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  const { client } = options;
  // The request side ends together with the answers.
  using own = linkSignals(signal);
  try {
    // It begins one revision early, because etcd accepts a watch from the compacted revision, whose deletions it may have forgotten.
    const startRevision = BigInt(Math.max(1, position.revision));
    const create = { ...ALL_KEYS, startRevision, prevKv: true, progressNotify: true, fragment: true };
    for await (const response of client.watch(create, own.signal)) {
      if (response.created) {
        await position.assertNotRewound(response);
        if (!response.canceled) onOpen();
      }
      if (response.canceled) throw cancellation(response, position.revision);
      position.advance(response);
    }
  } finally {
    own.abort();
  }
}

function cancellation({ compactRevision, cancelReason }: WatchResponse, after: Revision): Error {
  if (compactRevision > 0n) return new RevisionCompactedError(after + 1, Number(compactRevision));
  const message = cancelReason === '' ? 'etcd cancelled the watch' : cancelReason;
  return new EtcdError(
    saysStaleToken(message) ? { kind: 'stale-token', message } : { kind: 'away', applied: 'no', message },
  );
}

/** The last delivered revision. */
class Position {
  readonly #options: KeySpaceWatchOptions;
  revision: Revision;
  /** Events of a revision that may continue in the next part of the answer. At most one transaction. */
  #incomplete: Event[] = [];
  #clusterId: bigint | undefined;

  constructor(options: KeySpaceWatchOptions) {
    this.#options = options;
    this.revision = options.after;
  }

  async assertNotRewound({ header }: WatchResponse): Promise<void> {
    this.#incomplete = [];
    this.#clusterId ??= header?.clusterId;
    if (header !== undefined && header.clusterId !== this.#clusterId) throw new StoreRewoundError(this.revision, 0);
    // A member may lag behind the others; only the whole cluster must not.
    if (Number(header?.revision ?? 0n) >= this.revision) return;
    const current = await this.#options.client.currentRevision();
    if (current < this.revision) throw new StoreRewoundError(this.revision, current);
  }

  advance({ events, fragment }: WatchResponse): void {
    const all = this.#incomplete.length === 0 ? events : [...this.#incomplete, ...events];
    const last = all.at(-1);
    if (last === undefined) return;
    const end = fragment ? all.findIndex((event) => revisionOf(event) === revisionOf(last)) : all.length;
    this.#incomplete = all.slice(end);
    const told: StoreEvent[] = [];
    let revision = this.revision;
    for (let i = 0; i < end; i++) {
      const event = all[i];
      if (event === undefined || revisionOf(event) <= this.revision) continue;
      revision = revisionOf(event);
      const own = this.#own(event);
      if (own !== undefined) told.push(own);
    }
    if (revision === this.revision) return;
    this.revision = revision;
    this.#options.onChanges(told, revision);
  }

  /** Undefined for foreign keys. */
  #own({ type, kv, prevKv }: Event): StoreEvent | undefined {
    if (kv === undefined) return undefined;
    const { keys } = this.#options;
    const key = keys.decode(kv.key);
    if (key === undefined) return undefined;
    const before = prevKv === undefined ? undefined : toKeyValue(prevKv, key);
    const previous = before === undefined ? undefined : { ...before, value: ownBytes(before.value) };
    const value = ownBytes(kv.value);
    const revision = Number(kv.modRevision);
    if (type !== EVENT_DELETE && kv.createRevision === kv.modRevision) {
      const current = { key, value, createRevision: revision, modRevision: revision };
      return { type: 'PUT', key, revision, current, createRevision: revision };
    }
    // The previous value was compacted between the change and its delivery, so the watch is too far behind.
    if (previous === undefined) throw new RevisionCompactedError(this.revision + 1, revision);
    const { createRevision } = previous;
    if (type === EVENT_DELETE) return { type: 'DELETE', key, revision, createRevision, previous };
    const current = { key, value, createRevision, modRevision: revision };
    return { type: 'PUT', key, revision, current, createRevision, previous };
  }
}

/** Values are views of their message. A kept value must not retain the rest, which may be megabytes. */
function ownBytes(value: Uint8Array): Uint8Array {
  return value.buffer.byteLength > 2 * value.length + SPARE_BYTES ? value.slice() : value;
}

function revisionOf({ kv }: Event): Revision {
  return Number(kv?.modRevision ?? 0n);
}

export function toKeyValue({ value, createRevision, modRevision }: EtcdKeyValue, key: string): KeyValue {
  return { key, value, createRevision: Number(createRevision), modRevision: Number(modRevision) };
}
