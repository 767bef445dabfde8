import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { TransportError } from '../../client/http/transport.ts';
import { ClusterIdentity, ForeignClusterError } from './cluster-identity.ts';

function setUp() {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const foreign: string[] = [];
  const sent: string[] = [];
  const server = { uid: 'one', status: 200, down: false, other: 200 };
  const identity = new ClusterIdentity({ clock, logger });
  identity.foreign.addEventListener('abort', () => foreign.push(String(identity.foreign.reason)));
  const answer = (status: number, value: unknown): HttpResponse => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  });
  const next = ({ method, target }: HttpRequest): Promise<HttpResponse> => {
    const isLook = target.endsWith('/kube-system');
    sent.push(isLook ? 'look' : `${method} ${target}`);
    if (server.down) return Promise.reject(new TransportError('refused', 'connection refused'));
    if (!isLook) return Promise.resolve(answer(server.other, {}));
    return Promise.resolve(answer(server.status, { metadata: { name: 'kube-system', uid: server.uid } }));
  };
  const send = async (method: string, target: string): Promise<number> =>
    (await identity.intercept({ method, target, headers: {} }, next)).status;
  const news = (): string[] => sent.splice(0);
  return { clock, logger, foreign, server, send, news };
}

describe('the identity of the cluster', () => {
  it('COL-116 is read after a list, a watch and a 404, and before a write, and not again within two seconds', async () => {
    const { clock, server, send, news } = setUp();
    await send('GET', '/pods?watch=true');
    expect(news()).toEqual(['GET /pods?watch=true', 'look']);
    await send('DELETE', '/pods/a');
    await send('PATCH', '/pods/a');
    expect(news()).toEqual(['DELETE /pods/a', 'PATCH /pods/a']);
    clock.advance(2000);
    await send('DELETE', '/pods/b');
    expect(news()).toEqual(['look', 'DELETE /pods/b']);
    server.other = 404;
    await Promise.all([send('GET', '/pods/c'), send('GET', '/pods/d')]);
    expect(news()).toEqual(['GET /pods/c', 'GET /pods/d', 'look']);
  });

  it('COL-116 is read between the read of an object and a write that may rest on it', async () => {
    const { send, news } = setUp();
    await send('DELETE', '/pods/a');
    await send('GET', '/pods/b');
    await send('DELETE', '/pods/c');
    expect(news()).toEqual(['look', 'DELETE /pods/a', 'GET /pods/b', 'look', 'DELETE /pods/c']);
  });

  it('COL-116 is read again after a request without an answer, before anything is written', async () => {
    const { server, send, news } = setUp();
    await send('DELETE', '/pods/a');
    server.down = true;
    await expect(send('GET', '/pods/a')).rejects.toThrow('refused');
    await expect(send('DELETE', '/pods/b')).rejects.toThrow('refused');
    expect(news()).toEqual(['look', 'DELETE /pods/a', 'GET /pods/a', 'look']);
  });

  it('COL-002 that differs ends all: nothing is handed on or written any more, and both are named', async () => {
    const { server, send, news, foreign } = setUp();
    await send('GET', '/pods?limit=500');
    server.uid = 'other';
    await expect(send('GET', '/pods?watch=true')).rejects.toThrow(ForeignClusterError);
    news();
    server.uid = 'one';
    await expect(send('DELETE', '/pods/a')).rejects.toThrow('was one, and is other');
    expect([news(), foreign.length]).toEqual([[], 1]);
  });

  it('COL-116 is not known where it may not be read, which is logged once; once known, it must be readable', async () => {
    const { server, send, logger, clock } = setUp();
    server.status = 403;
    expect([await send('DELETE', '/pods/a'), await send('GET', '/pods?watch=true')]).toEqual([200, 200]);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    server.status = 200;
    clock.advance(2000);
    await send('DELETE', '/pods/a');
    server.status = 401;
    clock.advance(2000);
    await expect(send('DELETE', '/pods/b')).rejects.toThrow('the server answered 401');
  });
});
