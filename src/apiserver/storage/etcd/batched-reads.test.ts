import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { StoreOverloadedError } from '../store-errors.ts';
import { BatchedReads } from './batched-reads.ts';
import type { RangeFields } from './etcd-connection.ts';
import { EtcdKeys } from './etcd-keys.ts';
import { type RangeResponse, RangeResponseSchema, type TxnResponse, TxnResponseSchema } from './rpc.generated.ts';

/** An etcd that answers only when the test asks it to: each key holds its own name as the value, except keys that begin with `no`. */
class SlowEtcd {
  revision = 1n;
  readonly sizes: number[] = [];
  readonly #pending: (() => void)[] = [];
  broken = false;

  get underWay(): number {
    return this.#pending.length;
  }

  async range(request: RangeFields): Promise<RangeResponse> {
    await this.#wait(1);
    return create(RangeResponseSchema, this.#answer(request));
  }

  async ranges(requests: readonly RangeFields[]): Promise<TxnResponse> {
    await this.#wait(requests.length);
    const responses = requests.map((request) => ({
      response: { case: 'responseRange', value: this.#answer(request) } as const,
    }));
    return create(TxnResponseSchema, { header: { revision: this.revision }, responses });
  }

  /** Answers all requests in progress. */
  async answer(): Promise<void> {
    for (const resolve of this.#pending.splice(0)) resolve();
    await new Promise((next) => setImmediate(next));
  }

  async #wait(size: number): Promise<void> {
    this.sizes.push(size);
    await new Promise<void>((resolve) => this.#pending.push(resolve));
    if (this.broken) throw new Error('etcd is broken');
  }

  #answer({ key, countOnly }: RangeFields) {
    const text = Buffer.from(key ?? []).toString();
    const missing = countOnly === true || text.includes('/no');
    const kvs = missing
      ? []
      : [{ key: Buffer.from(text), value: Buffer.from(text), modRevision: 1n, createRevision: 1n }];
    return { header: { revision: this.revision }, kvs };
  }
}

function setUp() {
  const etcd = new SlowEtcd();
  return { etcd, reads: new BatchedReads({ client: etcd, keys: new EtcdKeys('/registry') }) };
}

const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

describe('reads that go together', () => {
  it('are each answered with what they asked for, in four lanes of 64 at most', async () => {
    const { etcd, reads } = setUp();
    const names = Array.from({ length: 500 }, (_, i) => (i % 5 === 0 ? `/registry/no${i}` : `/registry/k${i}`));
    const asked = Promise.all(names.map((name) => reads.get(name)));
    const revision = reads.currentRevision();
    await turn();
    expect(etcd.sizes).toEqual([64, 64, 64, 64]);
    etcd.revision = 7n;
    await etcd.answer();
    expect(etcd.underWay).toBeLessThanOrEqual(4);
    await etcd.answer();
    const results = await asked;
    expect(results.map(({ kv }) => kv?.key)).toEqual(names.map((name) => (name.includes('/no') ? undefined : name)));
    expect(results.map(({ kv }) => kv && Buffer.from(kv.value).toString())).toEqual(results.map(({ kv }) => kv?.key));
    expect(await revision).toBe(7);
    expect(etcd.sizes).toEqual([64, 64, 64, 64, 64, 64, 64, 53]);
  });

  it('one alone waits for nobody', async () => {
    const { etcd, reads } = setUp();
    const one = reads.get('/registry/a');
    await turn();
    const two = reads.get('/registry/b');
    await turn();
    expect(etcd.sizes).toEqual([1, 1]);
    await etcd.answer();
    expect([(await one).kv?.key, (await two).kv?.key]).toEqual(['/registry/a', '/registry/b']);
  });

  it('fail together, and the next ones go on', async () => {
    const { etcd, reads } = setUp();
    const failing = [reads.get('/registry/a'), reads.get('/registry/b')].map((read) => read.catch(String));
    etcd.broken = true;
    await turn();
    await etcd.answer();
    expect(await Promise.all(failing)).toEqual(['Error: etcd is broken', 'Error: etcd is broken']);
    etcd.broken = false;
    const next = reads.get('/registry/c');
    await turn();
    await etcd.answer();
    expect((await next).kv?.key).toBe('/registry/c');
  });

  it('are refused when too many wait', async () => {
    const { etcd, reads } = setUp();
    // Fills the lanes first.
    const asked = Array.from({ length: 4 * 64 }, () => reads.get('/registry/a'));
    await turn();
    for (let i = 0; i < 16_384; i++) asked.push(reads.get('/registry/a'));
    await expect(reads.get('/registry/b')).rejects.toThrow(StoreOverloadedError);
    while (etcd.underWay > 0) await etcd.answer();
    expect(await Promise.all(asked)).toHaveLength(4 * 64 + 16_384);
  });
});
