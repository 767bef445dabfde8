import { isAbortError } from '../../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Service } from '../../../base/service.ts';
import type { Revision } from '../interface.ts';
import type { EtcdClient } from './etcd-client.ts';
import { EtcdError } from './etcd-failure.ts';

/** The key that kube-apiserver uses too, outside of every prefix: whoever shares an etcd compacts it once, not each. */
const COMPACT_KEY = Buffer.from('compact_rev_key');

/** `Compare`: the number of writes of a key equals. */
const EQUAL = 0;
const VERSION = 0;

export interface EtcdCompactorOptions {
  readonly client: Pick<EtcdClient, 'txn' | 'compact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default 5 minutes (kube-apiserver's `--etcd-compaction-interval`). */
  readonly intervalMs?: number;
}

/** A server's knowledge about the rounds of all servers. */
export interface CompactionRound {
  /** Writes of the key so far, by whoever it was. */
  readonly version: bigint;
  /** The revision of now, which the next round compacts to. */
  readonly revision: Revision;
}

/**
 * Forgets etcd's history that is older than an interval, once an interval, however many servers there are: the round belongs to
 * who counts the key's version up first, the others learn that there was one (apiserver `storage/etcd3/compact.go`). So history
 * reaches back between one and two intervals.
 */
export class EtcdCompactor implements Service {
  readonly #client: EtcdCompactorOptions['client'];
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #intervalMs: number;

  constructor({ client, clock, logger, intervalMs = 300_000 }: EtcdCompactorOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  /** Runs until aborted. A round that fails is tried again with the next one. */
  async run(signal: AbortSignal): Promise<void> {
    let round: CompactionRound = { version: 0n, revision: 0 };
    while (!signal.aborted) {
      try {
        await sleep(this.#clock, this.#intervalMs, signal);
      } catch (error) {
        if (isAbortError(error)) return;
        throw error;
      }
      round = await this.round(round).catch((error: unknown) => {
        this.#logger.warn('history could not be compacted', { revision: round.revision, error: String(error) });
        return round;
      });
    }
  }

  /** Compacts to the revision of the round before, unless another server has begun this round already. */
  async round({ version, revision }: CompactionRound): Promise<CompactionRound> {
    const key = COMPACT_KEY;
    const value = Buffer.from(String(revision));
    const { response } = await this.#client.txn({
      compare: [{ result: EQUAL, target: VERSION, key, targetUnion: { case: 'version', value: version } }],
      success: [{ request: { case: 'requestPut', value: { key, value } } }],
      failure: [{ request: { case: 'requestRange', value: { key } } }],
    });
    const next = Number(response.header?.revision ?? 0n);
    if (!response.succeeded) {
      const [first] = response.responses;
      const kv = first?.response.case === 'responseRange' ? first.response.value.kvs[0] : undefined;
      return { version: kv?.version ?? 0n, revision: next };
    }
    if (revision > 0) {
      await this.#client.compact(revision).catch((error: unknown) => {
        if (!(error instanceof EtcdError) || error.failure.kind !== 'compacted') throw error;
      });
      this.#logger.debug('compacted history', { revision });
    }
    return { version: version + 1n, revision: next };
  }
}
