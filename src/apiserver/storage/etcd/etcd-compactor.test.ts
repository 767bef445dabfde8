import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../../base/logs/memory-logger.ts';
import { EtcdCompactor } from './etcd-compactor.ts';
import type { TxnFields } from './etcd-connection.ts';
import { EtcdError } from './etcd-failure.ts';
import { type TxnResponse, TxnResponseSchema } from './rpc.generated.ts';

const INTERVAL_MS = 300_000;

/** A fake etcd with the parts that the key of the rounds needs; every call raises the revision. */
class Rounds {
  revision = 100;
  version = 0n;
  broken = false;
  readonly compacted: number[] = [];

  async txn({ compare }: TxnFields): Promise<{ response: TxnResponse; earlier: 'not applied' }> {
    if (this.broken) throw new EtcdError({ kind: 'away', applied: 'no', message: 'etcd is away' });
    const union = compare?.[0]?.targetUnion;
    const succeeded = union?.case === 'version' && union.value === this.version;
    if (succeeded) {
      this.version++;
      this.revision++;
    }
    const kvs = succeeded ? [] : [{ version: this.version }];
    const response = create(TxnResponseSchema, {
      header: { revision: BigInt(this.revision) },
      succeeded,
      responses: [{ response: { case: 'responseRange', value: { kvs } } }],
    });
    return { response, earlier: 'not applied' };
  }

  async compact(revision: number): Promise<void> {
    if (this.compacted.includes(revision)) throw new EtcdError({ kind: 'compacted', message: 'has been compacted' });
    this.compacted.push(revision);
  }
}

function setUp() {
  const clock = new FakeClock();
  const client = new Rounds();
  const logger = new MemoryLogger();
  const stop = new AbortController();
  const run = () => new EtcdCompactor({ client, clock, logger, intervalMs: INTERVAL_MS }).run(stop.signal);
  const interval = async (): Promise<void> => {
    clock.advance(INTERVAL_MS);
    await new Promise((next) => setImmediate(next));
  };
  return { clock, client, logger, stop, run, interval };
}

describe('compaction of etcd', () => {
  it('API-099 goes to where the round before was, once an interval, whoever of several servers does it', async () => {
    const { clock, client, run, stop, interval } = setUp();
    const servers = [run(), run(), run()];
    const at: number[] = [];
    for (let i = 0; i < 6; i++) {
      client.revision += 1_000;
      await interval();
      at.push(client.revision);
    }
    // The first rounds only learn the key's version and the revision; each later one compacts to the revision of the round before it.
    expect(client.compacted.length).toBeGreaterThanOrEqual(4);
    expect(new Set(client.compacted).size).toBe(client.compacted.length);
    expect(at.slice(0, -1)).toEqual(expect.arrayContaining(client.compacted));
    expect(client.compacted.at(-1)).toBe(at.at(-2));
    stop.abort();
    await Promise.all(servers);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a round that fails is reported, and the next one goes on from there', async () => {
    const { client, logger, run, stop, interval } = setUp();
    const running = run();
    await interval();
    const known = client.revision;
    client.revision += 1_000;
    client.broken = true;
    await interval();
    expect(logger.lines.some(({ message }) => message === 'history could not be compacted')).toBe(true);
    client.broken = false;
    await interval();
    expect(client.compacted).toEqual([known]);
    stop.abort();
    await running;
  });
});
