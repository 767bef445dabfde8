import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { EtcdClient } from './etcd-client.ts';

/** A port on which no server listens any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a client of an etcd that is away', () => {
  it('API-013 says so while a call still tries, before its time is over', async () => {
    const clock = new FakeClock();
    const client = new EtcdClient({
      endpoints: [`http://127.0.0.1:${await closedPort()}`],
      clock,
      random: seededRandom(1),
      logger: silentLogger,
    });
    const call = client.currentRevision().catch((error: Error) => error.name);
    while (client.troubles === '') await new Promise((next) => setImmediate(next));
    expect(client.unreachable).toBeUndefined();
    clock.advance(2_000);
    expect(client.unreachable).toContain('ECONNREFUSED');
    client.close();
    clock.advance(10_000);
    while ((await Promise.race([call, new Promise((next) => setImmediate(next))])) === undefined) clock.advance(1_000);
    expect(await call).toBe('EtcdError');
  });
});
