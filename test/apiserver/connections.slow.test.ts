import { connect as h2Connect, type ClientHttp2Session, constants } from 'node:http2';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { RealTurnsClock } from './real-turns-clock.ts';
import type { HttpHandler } from '../../src/base/http-message.ts';
import { systemRandom } from '../../src/base/random/random.ts';

/**
 * Tests the server when connections misbehave. Its time is fake: request times, watches and stalls are timers of the clock. Their number
 * shows which requests are still being served, and they come due when the test advances the clock.
 */

let certificates: ServingCertificates;
let clock: RealTurnsClock;
let server: TestServer;
let listener: HttpServer;
/** Bodies that are streams: opened and not ended yet. */
let openStreams = 0;
const leaving: (() => void)[] = [];

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

function counting(handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request);
    const { body } = response;
    if (body instanceof Uint8Array) return response;
    async function* counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      openStreams++;
      try {
        yield* source;
      } finally {
        openStreams--;
      }
    }
    return { ...response, body: counted(body) };
  };
}

beforeEach(async () => {
  clock = new RealTurnsClock();
  server = await startTestServer({ clock });
  openStreams = 0;
  listener = await serve({
    handler: counting(server.server.handler),
    host: '127.0.0.1',
    port: 0,
    clock,
    tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
  });
});

afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  const closed = listener.close();
  // Whatever a failed test left under way is cut.
  clock.advance(500);
  await closed;
  await server.server.stop();
});

const ca = (): { ca: string } => ({ ca: certificates.caPem });

function session(): ClientHttp2Session {
  const client = h2Connect(listener.url, ca());
  client.on('error', () => undefined);
  leaving.push(() => client.destroy());
  return client;
}

/** A connection that speaks no protocol yet. */
function raw(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: '127.0.0.1', port: listener.port, ALPNProtocols: ['http/1.1'], ...ca() });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
    leaving.push(() => socket.destroy());
  });
}

/** Everything that comes until the other side closes. */
function rest(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.once('close', () => resolve(text));
  });
}

/** Reads until `text` has come. */
async function until(socket: Socket, text: string): Promise<string> {
  let read = '';
  const onData = (chunk: Buffer): void => {
    read += chunk.toString();
  };
  socket.on('data', onData);
  await expect.poll(() => read).toContain(text);
  socket.off('data', onData);
  return read;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

function h1(options: RequestOptions & { readonly body?: string | Uint8Array }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port: listener.port, agent: false, ...ca(), ...options },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });
}

/** A watch over HTTP/2, read as it comes. */
function watch(client: ClientHttp2Session, query = ''): { lines: Json[]; ended: Promise<void>; cancel: () => void } {
  const stream = client.request({ ':path': `${configMaps}?watch=1${query}` });
  stream.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => stream.once('close', resolve));
  const lines: Json[] = [];
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    const complete = text.split('\n');
    text = complete.pop() ?? '';
    for (const line of complete) lines.push(JSON.parse(line) as Json);
  });
  return { lines, ended, cancel: () => stream.close(constants.NGHTTP2_CANCEL) };
}

const head = (line: string, ...headers: string[]): string => `${[line, 'host: x', ...headers].join('\r\n')}\r\n\r\n`;
const big = (name: string, kilobytes: number) => configMap(name, { data: { k: 'x'.repeat(kilobytes * 1024) } });
/** The server has nothing under way any more: no stream, and no timer but those it had at rest. */
const atRest = (timers: number): Promise<void> =>
  expect.poll(() => [openStreams, clock.pendingTimers]).toEqual([0, timers]);

describe('connections that break', () => {
  it('in the middle of a body: nothing is written and nothing kept', async () => {
    const timers = clock.pendingTimers;
    const before = await server.store.currentRevision();
    const body = JSON.stringify(configMap('cut'));
    for (const part of [0, 1, 20, body.length - 1]) {
      const socket = await raw();
      socket.write(
        head(`POST ${configMaps} HTTP/1.1`, 'content-type: application/json', `content-length: ${body.length}`),
      );
      socket.write(body.slice(0, part));
      await expect.poll(() => clock.pendingTimers).toBe(timers + 1);
      socket.destroy();
      await atRest(timers);
    }
    const client = session();
    const stream = client.request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' });
    stream.on('error', () => undefined);
    stream.write(body.slice(0, 20));
    await expect.poll(() => clock.pendingTimers).toBe(timers + 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await atRest(timers);
    expect(await server.store.currentRevision()).toBe(before);
    expect((await h1({ path: configMaps })).status).toBe(200);
  });

  it('API-006 a body that never comes ends with the time of a request', async () => {
    const timers = clock.pendingTimers;
    const socket = await raw();
    const closed = rest(socket);
    socket.write(head(`POST ${configMaps} HTTP/1.1`, 'content-length: 100'));
    const client = session();
    const stream = client.request({ ':method': 'POST', ':path': configMaps });
    stream.on('error', () => undefined);
    const reset = new Promise<void>((resolve) => stream.once('close', resolve));
    await expect.poll(() => clock.pendingTimers).toBe(timers + 2);
    clock.advance(60_000);
    await Promise.all([closed, reset]);
    await atRest(timers);
  });

  it('in the middle of a list: the server does not make the rest of the list', async () => {
    for (let i = 0; i < 40; i++) await server.post(configMaps, big(`b${i}`, 500));
    const timers = clock.pendingTimers;
    const socket = await raw();
    socket.write(head(`GET ${configMaps} HTTP/1.1`));
    // At once: a reader that goes on for a moment has the whole list.
    await new Promise<void>((resolve) => socket.once('data', () => resolve(void socket.pause())));
    expect(openStreams).toBe(1);
    socket.destroy();
    await atRest(timers);

    const client = session();
    const stream = client.request({ ':path': configMaps });
    stream.on('error', () => undefined);
    await new Promise<void>((resolve) => stream.once('data', () => resolve()));
    stream.pause();
    expect(openStreams).toBe(1);
    stream.close(constants.NGHTTP2_CANCEL);
    await atRest(timers);
  });

  it.each(['the stream', 'the connection'])(
    'API-120 in the middle of a watch: cut %s and the watcher is freed',
    async (what) => {
      const timers = clock.pendingTimers;
      const clients = Array.from({ length: 5 }, () => session());
      const watches = clients.flatMap((client) => [watch(client), watch(client)]);
      await expect.poll(() => openStreams).toBe(10);
      expect(clock.pendingTimers).toBe(timers + 10);
      await server.post(configMaps, configMap('a'));
      await expect.poll(() => watches.map(({ lines }) => lines.length)).toEqual(watches.map(() => 1));
      if (what === 'the stream') for (const { cancel } of watches) cancel();
      else for (const client of clients) client.destroy();
      await atRest(timers);
      expect((await server.post(configMaps, configMap('b'))).status).toBe(201);
    },
  );

  it('API-136 a watcher that stops reading is cut; writers and other watchers never wait for it', async () => {
    const timers = clock.pendingTimers;
    const socket = await raw();
    const closed = new Promise<void>((resolve) => socket.once('close', resolve));
    socket.write(head(`GET ${configMaps}?watch=1 HTTP/1.1`));
    await until(socket, '200 OK');
    socket.pause();
    const other = watch(session());
    await expect.poll(() => openStreams).toBe(2);
    // More than the sockets between them hold.
    let written = 0;
    while (clock.pendingTimers < timers + 3) {
      expect((await server.post(configMaps, big(`w${written}`, 900))).status).toBe(201);
      written++;
      await expect.poll(() => other.lines.length).toBe(written);
      expect(written).toBeLessThan(200);
    }
    clock.advance(59_999);
    expect(openStreams).toBe(2);
    clock.advance(1);
    await expect.poll(() => openStreams).toBe(1);
    expect(clock.pendingTimers).toBe(timers + 1);
    await server.post(configMaps, configMap('after'));
    await expect.poll(() => other.lines.length).toBe(written + 1);
    expect(other.lines.at(-1)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'after' } } });
    socket.resume();
    await closed;
  });

  it('API-136 over HTTP/2 it is the stream that is cut, the others of its connection go on', async () => {
    const timers = clock.pendingTimers;
    const client = session();
    const stuck = client.request({ ':path': `${configMaps}?watch=1` });
    stuck.on('error', () => undefined);
    const cut = new Promise<void>((resolve) => stuck.once('close', () => resolve()));
    stuck.pause();
    const other = watch(client);
    await expect.poll(() => openStreams).toBe(2);
    let written = 0;
    while (clock.pendingTimers < timers + 3) {
      await server.post(configMaps, big(`w${written}`, 900));
      written++;
      await expect.poll(() => other.lines.length).toBe(written);
      expect(written).toBeLessThan(200);
    }
    clock.advance(60_000);
    await expect.poll(() => openStreams).toBe(1);
    stuck.resume();
    await cut;
    await server.post(configMaps, configMap('after'));
    await expect.poll(() => other.lines.length).toBe(written + 1);
  });

  it('a slow reader that takes a little now and then is not cut', async () => {
    for (let i = 0; i < 30; i++) await server.post(configMaps, big(`b${i}`, 900));
    const socket = await raw();
    const all = rest(socket);
    socket.pause();
    socket.write(head(`GET ${configMaps} HTTP/1.1`, 'connection: close'));
    const idle = clock.pendingTimers;
    await expect.poll(() => clock.pendingTimers).toBeGreaterThan(idle);
    clock.advance(59_000);
    socket.resume();
    const text = await all;
    expect(text.slice(-40)).toContain(']}');
    expect(text.match(/"name":"b\d+"/g)).toHaveLength(30);
  });
});

describe('what is no proper request', () => {
  it('a handshake of garbage, plain HTTP to the TLS port, and nothing at all concern one connection', async () => {
    for (const bytes of [
      Buffer.from([0, 1, 2, 3, 255, 254]),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(100_000, 22),
    ]) {
      const socket = netConnect(listener.port, '127.0.0.1');
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(bytes);
      socket.resume();
      await closed;
    }
    const silent = netConnect(listener.port, '127.0.0.1');
    silent.on('error', () => undefined);
    leaving.push(() => silent.destroy());
    expect((await h1({ path: configMaps })).status).toBe(200);
  });

  it('after the handshake', async () => {
    for (const [text, answer] of [
      ['hello\r\n\r\n', 'HTTP/1.1 400'],
      ['GET /\r\n\r\n', 'HTTP/1.1 505'],
      ['GET / HTTP/9.9\r\n\r\n', 'HTTP/1.1 400'],
      ['GET / HTTP/1.1\r\nbad header\r\n\r\n', 'HTTP/1.1 400'],
      [
        'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
        'HTTP/1.1 400',
      ],
      ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -3\r\n\r\n', 'HTTP/1.1 400'],
      ['POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'HTTP/1.1 400'],
    ] as const) {
      const socket = await raw();
      const all = rest(socket);
      socket.write(text);
      expect([text, (await all).slice(0, 12)]).toEqual([text, answer]);
    }
    for (const text of [
      `GET /${'a'.repeat(200_000)} HTTP/1.1`,
      head('GET / HTTP/1.1', `x-large: ${'a'.repeat(200_000)}`),
    ]) {
      const socket = await raw();
      const all = rest(socket);
      socket.write(text);
      // Data that is still on its way when the connection ends can take the answer with it.
      expect(['', 'HTTP/1.1 431']).toContain((await all).slice(0, 12));
    }
    expect((await h1({ path: configMaps })).status).toBe(200);
  });

  it('HTTP/2 frames that are none end their connection', async () => {
    const socket = tlsConnect({ host: '127.0.0.1', port: listener.port, ALPNProtocols: ['h2'], ...ca() });
    socket.on('error', () => undefined);
    const closed = rest(socket);
    await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.alloc(1000, 0xff));
    await closed;
    expect((await h1({ path: configMaps })).status).toBe(200);
  });

  it('headers up to 100 KiB are read, over both protocols', async () => {
    const path = `${configMaps}?labelSelector=${'a,'.repeat(30_000)}a`;
    expect((await h1({ path })).status).toBe(200);
    const stream = session().request({ ':path': path });
    const status = await new Promise((resolve, reject) => {
      stream.once('response', (headers) => resolve(headers[':status']));
      stream.once('error', reject);
    });
    expect(status).toBe(200);
    stream.resume();
  });
});

describe('ways to speak HTTP', () => {
  it('HTTP/1.0, and a watch over it', async () => {
    await server.post(configMaps, configMap('a'));
    const one = await raw();
    const answer = rest(one);
    one.write(`GET ${configMaps}/a HTTP/1.0\r\n\r\n`);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(.|\r\n)*"name":"a"/);
    const two = await raw();
    two.write(`GET ${configMaps}?watch=1 HTTP/1.0\r\n\r\n`);
    expect(await until(two, '}\n')).toContain('{"type":"ADDED","object":{');
    const more = until(two, '"name":"b"');
    await server.post(configMaps, configMap('b'));
    expect(await more).toContain('"type":"ADDED"');
  });

  it('pipelined requests are answered in order', async () => {
    for (const name of ['a', 'b', 'c']) await server.post(configMaps, configMap(name));
    const socket = await raw();
    const all = rest(socket);
    socket.write(
      ['c', 'nosuch', 'a', 'b']
        .map((name, i) => head(`GET ${configMaps}/${name} HTTP/1.1`, ...(i === 3 ? ['connection: close'] : [])))
        .join(''),
    );
    const text = await all;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(text.match(/"name":"\w+"/g)).toEqual(['"name":"c"', '"name":"nosuch"', '"name":"a"', '"name":"b"']);
  });

  it('chunked bodies, and bodies that wait to be asked for', async () => {
    const body = JSON.stringify(configMap('chunked'));
    const socket = await raw();
    socket.write(head(`POST ${configMaps} HTTP/1.1`, 'content-type: application/json', 'transfer-encoding: chunked'));
    for (const char of body) socket.write(`1\r\n${char}\r\n`);
    const answer = until(socket, '"name":"chunked"');
    socket.write('0\r\n\r\n');
    expect(await answer).toContain('HTTP/1.1 201');
    const expecting = JSON.stringify(configMap('expected'));
    const asked = until(socket, '100 Continue');
    socket.write(head(`POST ${configMaps} HTTP/1.1`, `content-length: ${expecting.length}`, 'expect: 100-continue'));
    await asked;
    const created = until(socket, '"name":"expected"');
    socket.write(expecting);
    expect(await created).toContain('HTTP/1.1 201');
  });

  it('HEAD, OPTIONS and a whole URL', async () => {
    await server.post(configMaps, configMap('a'));
    const get = await h1({ path: '/livez' });
    const hd = await h1({ method: 'HEAD', path: '/livez' });
    expect([hd.status, hd.text, hd.headers['content-length']]).toEqual([200, '', String(get.text.length)]);
    const watching = await h1({ method: 'HEAD', path: `${configMaps}?watch=1` });
    expect([watching.status, watching.text]).toEqual([405, '']);
    const options = await h1({ method: 'OPTIONS', path: configMaps });
    expect([options.status, (JSON.parse(options.text) as Json).reason]).toEqual([405, 'MethodNotAllowed']);
    expect((await h1({ method: 'OPTIONS', path: '*' })).status).toBe(404);
    expect((await h1({ path: `https://kubernetes.example${configMaps}/a?pretty=true` })).text).toContain('"name": "a"');
    expect((await h1({ path: 'https://kubernetes.example' })).status).toBe(200);
    await atRest(clock.pendingTimers);
  });

  it('API-320 an upgrade that is not to be had is refused in words', async () => {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await server.post('/api/v1/namespaces/default/pods', pod);
    for (const protocol of ['websocket', 'SPDY/3.1']) {
      const socket = await raw();
      const all = rest(socket);
      const path = '/api/v1/namespaces/default/pods/p/exec?command=sh';
      socket.write(head(`GET ${path} HTTP/1.1`, 'connection: Upgrade, close', `upgrade: ${protocol}`));
      expect(await all).toMatch(/^HTTP\/1\.1 400 (.|\r\n)*pod p does not have a host assigned/);
    }
  });

  it('warnings and audit ids of any text leave as headers, over both protocols', async () => {
    const body = JSON.stringify({ ...configMap('a'), 'fïeld ☃\n"': 1 });
    const headers = { 'content-type': 'application/json', 'audit-id': 'ä"x' };
    const one = await h1({ method: 'POST', path: `${configMaps}?dryRun=All`, body: Buffer.from(body), headers });
    expect([one.status, one.headers['audit-id']]).toEqual([201, 'ä"x']);
    expect(Buffer.from(String(one.headers['warning']), 'latin1').toString()).toMatch(/^299 - "unknown field .*☃/);
    const stream = session().request({ ':method': 'POST', ':path': `${configMaps}?dryRun=All`, ...headers });
    stream.end(body);
    const answered = await new Promise<Record<string, unknown>>((resolve, reject) => {
      stream.once('response', resolve);
      stream.once('error', reject);
    });
    expect([answered[':status'], answered['audit-id']]).toEqual([201, 'ä"x']);
    stream.resume();
  });

  it('many at once, over one connection and over many', async () => {
    const client = session();
    const over2 = (name: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const stream = client.request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' });
        stream.once('response', (headers) => resolve(headers[':status']));
        stream.once('error', reject);
        stream.resume();
        stream.end(JSON.stringify(configMap(name)));
      });
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    leaving.push(() => agent.destroy());
    const over1 = async (name: string): Promise<unknown> => {
      const body = JSON.stringify(configMap(name));
      return (await h1({ method: 'POST', path: configMaps, agent, body })).status;
    };
    const names = Array.from({ length: 150 }, (_, i) => i);
    const statuses = await Promise.all(names.flatMap((i) => [over2(`two-${i}`), over1(`one-${i}`)]));
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((await server.get(`${configMaps}?limit=1`)).json).toMatchObject({ metadata: { remainingItemCount: 299 } });
  });
});

describe('closing', () => {
  it('ends watches, idle and silent connections, and half-read ones', async () => {
    const client = session();
    const watches = Array.from({ length: 20 }, () => watch(client));
    await expect.poll(() => openStreams).toBe(20);
    const idle = await raw();
    idle.write(head(`GET ${configMaps} HTTP/1.1`));
    await until(idle, '"items"');
    const half = await raw();
    half.write(head(`POST ${configMaps} HTTP/1.1`, 'content-length: 100'));
    const silent = netConnect(listener.port, '127.0.0.1');
    silent.on('error', () => undefined);
    await new Promise<void>((resolve) => silent.once('connect', resolve));
    const gone = [idle, half, silent].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    await listener.close();
    await Promise.all([...gone, ...watches.map(({ ended }) => ended)]);
    expect(openStreams).toBe(0);
    await expect(h1({ path: configMaps })).rejects.toThrow('ECONNREFUSED');
  });

  it.each(['http/1.1', 'h2'])('lets an answer under way arrive whole over %s', async (protocol) => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let asked = false;
    const text = 'x'.repeat(1_000_000);
    const slow = await serve({
      handler: async () => {
        asked = true;
        await held;
        return { status: 200, headers: {}, body: Buffer.from(text) };
      },
      host: '127.0.0.1',
      port: 0,
      clock,
      tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
    });
    const answer =
      protocol === 'h2'
        ? new Promise<string>((resolve, reject) => {
            const client = h2Connect(slow.url, ca());
            client.on('error', reject);
            const stream = client.request({ ':path': '/' });
            let body = '';
            stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
            stream.on('end', () => resolve(body));
            stream.on('error', reject);
          })
        : h1({ port: slow.port, path: '/' }).then((got) => got.text);
    await expect.poll(() => asked).toBe(true);
    const closing = slow.close();
    release();
    expect((await answer).length).toBe(text.length);
    await closing;
  });

  it('cuts what does not end by itself', async () => {
    let asked = false;
    const stuck = await serve({
      handler: () => {
        asked = true;
        return new Promise(() => undefined);
      },
      host: '127.0.0.1',
      port: 0,
      clock,
      tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
    });
    const broken = h1({ port: stuck.port, path: '/' }).catch((error: Error) => error.message);
    await expect.poll(() => asked).toBe(true);
    const closing = stuck.close();
    clock.advance(500);
    await closing;
    expect(await broken).toMatch(/socket hang up|ECONNRESET/);
  });
});
