import { request as httpsRequest } from 'node:https';
import { connect as h2Connect } from 'node:http2';
import { connect as netConnect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';

/**
 * Connections cut at many points, in the handshake, in the request, in the answer: through a proxy that forwards so many bytes one way
 * and then resets both sides. A write is then done or not done, never by half; and nothing of the connection stays in the server.
 */

let certificates: ServingCertificates;
let server: TestServer;
let listener: HttpServer;
let proxy: Server;
let proxyPort: number;
let cut: { readonly way: 'to server' | 'to client'; readonly after: number };
const sockets = new Set<Socket>();

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

beforeEach(async () => {
  server = await startTestServer({});
  const tls = { keyPem: certificates.keyPem, certPem: certificates.certPem };
  listener = await serve({ handler: server.server.handler, host: '127.0.0.1', port: 0, clock: systemClock, tls });
  proxy = createServer((client) => {
    const upstream = netConnect(listener.port, '127.0.0.1');
    const { way, after } = cut;
    let left = after;
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    const forward = (from: Socket, to: Socket, counted: boolean): void => {
      from.on('data', (chunk: Buffer) => {
        if (!counted) return void to.write(chunk);
        const part = chunk.subarray(0, left);
        left -= part.length;
        to.write(part, () => {
          if (left === 0) for (const socket of both) socket.resetAndDestroy();
        });
      });
    };
    forward(client, upstream, way === 'to server');
    forward(upstream, client, way === 'to client');
    if (after === 0) client.resetAndDestroy();
  });
  await new Promise<void>((settle) => proxy.listen(0, '127.0.0.1', settle));
  proxyPort = (proxy.address() as { port: number }).port;
});

afterEach(async () => {
  await new Promise((settle) => proxy.close(settle));
  await listener.close();
  await server.server.stop();
});

const options = (): { ca: string } => ({ ca: certificates.caPem });
const data = { filler: 'x'.repeat(700) };

/** The status of the answer, or `none` when it did not come whole. */
type Outcome = number | 'none';

function createOverHttp1(name: string): Promise<Outcome> {
  const body = JSON.stringify({ ...configMap(name), data });
  return new Promise((settle) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: proxyPort,
        agent: false,
        method: 'POST',
        path: configMaps,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        ...options(),
      },
      (response) => {
        response.resume();
        response.on('end', () => settle(response.complete ? (response.statusCode ?? 0) : 'none'));
        response.on('error', () => settle('none'));
      },
    );
    request.on('error', () => settle('none'));
    request.end(body);
  });
}

function createOverHttp2(name: string): Promise<Outcome> {
  return new Promise((settle) => {
    const session = h2Connect(`https://127.0.0.1:${proxyPort}`, options());
    const finish = (outcome: Outcome): void => {
      session.destroy();
      settle(outcome);
    };
    session.on('error', () => finish('none'));
    session.on('close', () => finish('none'));
    const stream = session.request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' });
    let status = 0;
    stream.on('error', () => finish('none'));
    stream.on('response', (headers) => (status = headers[':status'] ?? 0));
    stream.on('end', () => finish(status === 0 || stream.rstCode !== 0 ? 'none' : status));
    stream.resume();
    stream.end(JSON.stringify({ ...configMap(name), data }));
  });
}

/** Bytes of the whole exchange one way: found by not cutting it. */
const WHOLE = 1_000_000;

const create = { 'HTTP/1.1': createOverHttp1, 'HTTP/2': createOverHttp2 } as const;

describe('connections cut at every point', () => {
  it.each([
    ['HTTP/1.1', 'to server'],
    ['HTTP/1.1', 'to client'],
    ['HTTP/2', 'to server'],
    ['HTTP/2', 'to client'],
  ] as const)('%s %s: each write is done or not done, and what was answered is done', async (protocol, way) => {
    const answered: string[] = [];
    // A handshake and the request or the answer are below 4 KiB each way; beyond it nothing is cut.
    for (const after of [...Array.from({ length: 64 }, (_, i) => i * 61), WHOLE]) {
      cut = { way, after };
      const name = `cut-${after}`;
      const outcome = await create[protocol](name);
      if (outcome !== 'none') {
        expect(outcome).toBe(201);
        answered.push(name);
      }
    }
    expect(answered).toContain(`cut-${WHOLE}`);
    expect(answered.length).toBeLessThan(60);
    await expect.poll(() => sockets.size).toBe(0);
    const { json } = await server.get(configMaps);
    const there = json.items.filter(({ metadata }) => metadata?.name?.startsWith('cut-'));
    for (const item of there) expect(item['data']).toEqual(data);
    const names = there.map(({ metadata }) => metadata?.name);
    expect(names).toEqual(expect.arrayContaining(answered));
    // Cut on the way to the server, a request that was not whole did nothing.
    if (way === 'to server') expect(names.length).toBe(answered.length);
  });
});
