import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { StoreRewoundError } from '../store-errors.ts';
import { EtcdClient } from './etcd-client.ts';
import { EtcdFeed } from './etcd-feed.ts';
import { EtcdKeys } from './etcd-keys.ts';
import { KV, Watch } from './rpc.generated.ts';

/** A member with one key that is written again and again. */
async function startMember() {
  const state = { clusterId: 1n, revision: 1000n, told: 1000n };
  let ended = new AbortController();
  const header = () => ({ clusterId: state.clusterId, revision: state.revision });
  const turn = (): Promise<unknown> => new Promise((next) => setImmediate(next));
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(KV, { range: () => ({ header: header() }) });
        router.service(Watch, {
          async *watch(_requests, { signal }) {
            const own = ended.signal;
            yield { header: header(), created: true };
            while (!signal.aborted && !own.aborted) {
              if (state.told < state.revision) {
                state.told++;
                const kv = { key: Buffer.from('k'), createRevision: state.told, modRevision: state.told };
                yield { header: header(), events: [{ kv }] };
              } else await turn();
            }
          },
        });
      },
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    turn,
    /** Another cluster has the address now. */
    replace: (revision: bigint) => {
      Object.assign(state, { clusterId: state.clusterId + 1n, revision, told: revision });
      ended.abort();
      ended = new AbortController();
    },
    close: () => {
      ended.abort();
      server.close();
    },
  };
}

describe('the feed of an etcd that was wiped', () => {
  it('lets writes wait for the events of the new one, whatever revision the old one had', async () => {
    const member = await startMember();
    const clock = new FakeClock();
    const common = { clock, random: seededRandom(1), logger: silentLogger };
    const client = new EtcdClient({ ...common, endpoints: [member.url] });
    const feed = new EtcdFeed({
      ...common,
      client,
      keys: new EtcdKeys('/registry'),
      assertReadable: () => Promise.resolve(),
      onRewound: () => undefined,
    });
    const closed: unknown[] = [];
    const watch = (startRevision: number) =>
      feed.add('/registry/', { startRevision, onEvents: () => undefined, onClose: (error) => closed.push(error) });

    await watch(1001);
    const old = feed.told(1001);
    member.state.revision = 1001n;
    await old;
    member.replace(1n);
    while (closed.length === 0) {
      clock.advance(100);
      await member.turn();
    }
    expect(closed[0]).toBeInstanceOf(StoreRewoundError);

    await watch(2);
    const answered: number[] = [];
    const answer = feed.told(2).then(() => answered.push(2));
    await member.turn();
    expect(answered).toEqual([]);
    member.state.revision = 2n;
    await answer;
    expect(clock.pendingTimers).toBe(0);
    feed.stop();
    client.close();
    member.close();
  });
});
