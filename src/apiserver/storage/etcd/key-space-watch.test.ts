import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { EtcdClient } from './etcd-client.ts';
import { EtcdKeys } from './etcd-keys.ts';
import { watchKeySpace } from './key-space-watch.ts';
import { Auth, Watch } from './rpc.generated.ts';

/** A member that gives out tokens `1`, `2`, … and cancels watches with any but the newest, as etcd's `isWatchPermitted` does. */
async function startMember(cancelReason: string) {
  const seen: (string | null)[] = [];
  let tokens = 0;
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(Auth, { authenticate: () => ({ token: String(++tokens) }) });
        router.service(Watch, {
          async *watch(_requests, { requestHeader, signal }) {
            const token = requestHeader.get('token');
            seen.push(token);
            const header = { clusterId: 1n, revision: 5n };
            if (token !== String(tokens)) {
              yield { header, watchId: -1n, created: true, canceled: true, cancelReason };
              return;
            }
            yield { header, created: true };
            yield { header, events: [{ kv: { key: Buffer.from('k'), createRevision: 6n, modRevision: 6n } }] };
            await once(signal, 'abort');
          },
        });
      },
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** Makes etcd forget the tokens, as a restart or a change of rights does. */
    voidTokens: () => void tokens++,
    close: () => server.close(),
  };
}

describe('the watch of the key space', () => {
  it.each([
    'rpc error: code = Unauthenticated desc = etcdserver: invalid auth token',
    'rpc error: code = InvalidArgument desc = etcdserver: revision of auth store is old',
  ])('logs in again when it is cancelled because of its token: %s', async (cancelReason) => {
    const member = await startMember(cancelReason);
    const clock = new FakeClock();
    const common = { clock, random: seededRandom(1), logger: silentLogger };
    const credentials = { username: 'u', password: 'p' };
    const client = new EtcdClient({ ...common, endpoints: [member.url], credentials });
    const stop = new AbortController();
    const watch = (): { readonly told: number[]; readonly ended: Promise<void> } => {
      const told: number[] = [];
      const onChanges = (_events: unknown, revision: number): void => void told.push(revision);
      const options = { ...common, client, keys: new EtcdKeys('/registry'), after: 5, onChanges };
      return { told, ended: watchKeySpace(options, stop.signal) };
    };
    const turn = (): Promise<unknown> => new Promise((next) => setImmediate(next));

    const first = watch();
    while (first.told.length === 0) await turn();
    member.voidTokens();
    const second = watch();
    while (second.told.length === 0 && member.seen.length < 5) {
      clock.advance(100);
      await turn();
    }
    expect(member.seen).toEqual(['1', '1', '3']);
    expect(second.told).toEqual([6]);
    stop.abort();
    await Promise.all([first.ended, second.ended]);
    client.close();
    member.close();
  });
});
