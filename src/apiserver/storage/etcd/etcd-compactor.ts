import { isAbortError } from '../../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Service } from '../../../base/service.ts';
import type { Revision } from '../interface.ts';
import type { EtcdClient } from './etcd-client.ts';
import { EtcdError } from './etcd-failure.ts';

/** The same key as kube-apiserver's, outside of every prefix, so that servers that share an etcd compact it once. */
const COMPACT_KEY = Buffer.from('compact_rev_key');

/** `Compare`: the number of writes of a key is equal. */
const EQUAL = 0;
const VERSION = 0;

export interface EtcdCompactorOptions {
  readonly client: Pick<EtcdClient, 'txn' | 'compact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default 5 minutes (kube-apiserver's `--etcd-compaction-interval`). */
  readonly intervalMs?: number;
}

/** One server's knowledge about the compaction rounds of all servers. */
export interface CompactionRound {
  /** The number of writes of the key by any server. */
  readonly version: bigint;
  /** The current revision, to which the next round compacts. */
  readonly revision: Revision;
}

/**
 * Compacts etcd's history older than an interval, once an interval, for any number of servers: the server that first increments the key's
 * version does the round, and the others see that (apiserver `storage/etcd3/compact.go`). So history reaches back between one and two
 * intervals.
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

  /** Runs until aborted. A failed round is retried with the next one. */
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

  /** Compacts to the revision of the previous round, unless another server has already begun this round. */
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
