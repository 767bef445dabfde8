import { assert } from '../../../base/errors/assert.ts';
import type { GetResult, Revision } from '../interface.ts';
import { StoreOverloadedError, StoreRefusedError } from '../store-errors.ts';
import type { EtcdClient } from './etcd-client.ts';
import { ALL_KEYS, type EtcdKeys } from './etcd-keys.ts';
import { toKeyValue } from './key-space-watch.ts';

/** Maximum keys of one transaction; etcd's own limit is 128 operations. */
const BATCH = 64;
/** Maximum concurrent transactions. */
const LANES = 4;
/** Maximum number of reads that wait for a lane. */
const WAITING = 16_384;

interface Waiting {
  /** Undefined if only the current revision is requested. */
  readonly key: string | undefined;
  readonly resolve: (result: GetResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads of single keys, many in one transaction: reads that arrive while all lanes are busy are sent together. Each is linearizable,
 * because its transaction is sent after the request. Writes are not combined, because they would share a revision.
 */
export class BatchedReads {
  readonly #client: Pick<EtcdClient, 'range' | 'ranges'>;
  readonly #keys: EtcdKeys;
  #waiting: Waiting[] = [];
  #busy = 0;
  #scheduled: 'no' | 'yes' = 'no';

  constructor({ client, keys }: { readonly client: Pick<EtcdClient, 'range' | 'ranges'>; readonly keys: EtcdKeys }) {
    this.#client = client;
    this.#keys = keys;
  }

  get(key: string): Promise<GetResult> {
    return this.#ask(key);
  }

  async currentRevision(): Promise<Revision> {
    return (await this.#ask(undefined)).revision;
  }

  #ask(key: string | undefined): Promise<GetResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= WAITING) throw new StoreOverloadedError(this.#waiting.length, 0);
      this.#waiting.push({ key, resolve, reject });
      if (this.#scheduled === 'yes' || this.#busy >= LANES) return;
      this.#scheduled = 'yes';
      // Reads of the same turn are sent together.
      queueMicrotask(() => {
        this.#scheduled = 'no';
        this.#fill();
      });
    });
  }

  #fill(): void {
    while (this.#busy < LANES && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      this.#busy++;
      this.#read(batch)
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        })
        .finally(() => {
          this.#busy--;
          this.#fill();
        });
    }
  }

  async #read(batch: readonly Waiting[]): Promise<void> {
    const [only] = batch;
    assert(only !== undefined, 'a batch has at least one read');
    if (batch.length === 1) {
      const { header, kvs } = await this.#client.range(this.#range(only.key));
      return this.#answer(only, kvs[0], Number(header?.revision ?? 0n));
    }
    const { header, responses } = await this.#client.ranges(batch.map(({ key }) => this.#range(key)));
    const revision = Number(header?.revision ?? 0n);
    for (const [i, waiting] of batch.entries()) {
      const answer = responses[i]?.response;
      if (answer?.case !== 'responseRange') throw new StoreRefusedError('etcd answered something else than was asked');
      this.#answer(waiting, answer.value.kvs[0], revision);
    }
  }

  #range(key: string | undefined) {
    return key === undefined ? { key: ALL_KEYS.key, countOnly: true } : { key: this.#keys.encode(key) };
  }

  #answer({ key, resolve }: Waiting, kv: Parameters<typeof toKeyValue>[0] | undefined, revision: Revision): void {
    resolve(kv === undefined || key === undefined ? { revision } : { kv: toKeyValue(kv, key), revision });
  }
}
