import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect as netConnect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../base/fake-clock.ts';
import type { HttpRequest } from '../base/http-message.ts';
import { connect } from './connect.ts';
import { caPem, serverCertPem, serverKeyPem } from './tls.fixture.ts';
import type { Transport } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers with the version of HTTP that it was asked in. */
function apiServer(): Promise<number> {
  const options = { key: serverKeyPem, cert: serverCertPem, allowHTTP1: true };
  return listen(createSecureServer(options, (request, response) => void response.end(request.httpVersion)));
}

const join = (one: Socket, other: Socket): void => {
  one.pipe(other.on('error', () => one.destroy()));
  other.pipe(one);
};

/** CONNECT for who knows the password; the addresses that were asked for. */
async function httpProxy(asked: string[]): Promise<number> {
  const server = createHttpServer();
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    asked.push(url);
    if (headers['proxy-authorization'] !== `Basic ${Buffer.from('me:p@ss').toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const upstream = netConnect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n');
      join(socket, upstream);
    });
  });
  return listen(server);
}

/** RFC 1928, byte by byte as a slow network would have it; with a login if there is a password. */
async function socksProxy(asked: string[], password?: string): Promise<number> {
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    const need = async (count: number): Promise<Buffer> => {
      while (bytes.length < count) {
        const chunk = (await new Promise((data) => void socket.once('data', data))) as Buffer;
        bytes = Buffer.concat([bytes, chunk]);
      }
      const taken = bytes.subarray(0, count);
      bytes = bytes.subarray(count);
      return taken;
    };
    const serve = async (): Promise<void> => {
      const [, count = 0] = await need(2);
      await need(count);
      socket.write(Buffer.from([5, password === undefined ? 0 : 2]));
      if (password !== undefined) {
        const [, nameLength = 0] = await need(2);
        const name = await need(nameLength);
        const [length = 0] = await need(1);
        const right = `${String(name)}:${String(await need(length))}` === password;
        socket.write(Buffer.from([1, right ? 0 : 1]));
        if (!right) return;
      }
      const [, , , , length = 0] = await need(5);
      const address = await need(length + 2);
      const port = address.readUInt16BE(length);
      asked.push(`${String(address.subarray(0, length))}:${port}`);
      const upstream = netConnect(port, '127.0.0.1', () => {
        for (const byte of [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]) socket.write(Buffer.from([byte]));
        join(socket, upstream);
      });
    };
    void serve();
  });
  return listen(server);
}

function transport(port: number, proxyUrl: string, protocol: 'auto' | 'http1' | 'http2' = 'auto'): Transport {
  const made = connect({ server: `https://localhost:${port}`, caPem, proxyUrl, protocol, clock: new FakeClock() });
  cleanups.push(() => made.close());
  return made;
}

const get = (target: string): HttpRequest => ({ method: 'GET', target, headers: {} });

async function text(client: Transport, target: string): Promise<string> {
  const { body } = await client.send(get(target));
  let all = '';
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  for await (const chunk of body) all += Buffer.from(chunk).toString();
  return all;
}

describe('a proxy', () => {
  it.each(['auto', 'http1', 'http2'] as const)('of HTTP is asked to connect, for %s', async (protocol) => {
    const asked: string[] = [];
    const [port, proxy] = [await apiServer(), await httpProxy(asked)];
    const client = transport(port, `http://me:p%40ss@127.0.0.1:${proxy}`, protocol);
    expect(await text(client, '/api')).toBe(protocol === 'http2' ? '2.0' : '1.1');
    expect(await text(client, '/api?watch=true')).toBe(protocol === 'http1' ? '1.1' : '2.0');
    expect(new Set(asked)).toEqual(new Set([`localhost:${port}`]));
  });

  it.each([undefined, 'me:secret'])('of SOCKS 5 is asked for the name, login %s', async (login) => {
    const asked: string[] = [];
    const [port, proxy] = [await apiServer(), await socksProxy(asked, login)];
    const client = transport(port, `socks5://${login === undefined ? '' : `${login}@`}127.0.0.1:${proxy}`);
    expect(await text(client, '/api')).toBe('1.1');
    expect(await text(client, '/api?watch=true')).toBe('2.0');
    expect(new Set(asked)).toEqual(new Set([`localhost:${port}`]));
  });

  it('that refuses is named, with its reason', async () => {
    const [port, proxy] = [await apiServer(), await httpProxy([])];
    const socks = await socksProxy([], 'me:secret');
    const failure = (proxyUrl: string) => transport(port, proxyUrl).send(get('/api'));
    await expect(failure(`http://127.0.0.1:${proxy}`)).rejects.toMatchObject({
      code: 'refused',
      message: `the proxy 127.0.0.1:${proxy} does not connect to localhost:${port}: HTTP/1.1 407 Proxy Authentication Required`,
    });
    await expect(failure(`socks5://me:wrong@127.0.0.1:${socks}`)).rejects.toMatchObject({
      message: `the proxy 127.0.0.1:${socks} does not connect to localhost:${port}: Socks5 Authentication failed`,
    });
    await expect(failure(`socks5://127.0.0.1:${socks}`)).rejects.toMatchObject({
      message: `the proxy 127.0.0.1:${socks} does not connect to localhost:${port}: Socks5 Authentication failed`,
    });
    await expect(failure('http://127.0.0.1:1')).rejects.toMatchObject({
      name: 'TransportError',
      code: 'refused',
      message: expect.stringContaining('the proxy http://127.0.0.1:1: '),
    });
  });

  it('of HTTPS has a certificate of its own, which has to be right', async () => {
    const names: string[] = [];
    const proxy = await listen(
      createTlsServer({
        key: serverKeyPem,
        cert: serverCertPem,
        SNICallback(name, done) {
          names.push(name);
          done(null);
        },
      }),
    );
    const client = connect({
      server: 'https://api.example.com',
      proxyUrl: `https://localhost:${proxy}`,
      clock: new FakeClock(),
    });
    cleanups.push(() => client.close());
    await expect(client.send(get('/api'))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'protocol',
      message: expect.stringMatching(new RegExp(`^the proxy https://localhost:${proxy}: .*certificate`)),
    });
    expect(new Set(names)).toEqual(new Set(['localhost']));
  });

  it('has ten seconds', async () => {
    const proxy = createServer();
    const port = await listen(proxy);
    const came = new Promise((connection) => void proxy.once('connection', connection));
    const clock = new FakeClock();
    const client = connect({ server: 'https://localhost:1', proxyUrl: `socks5://127.0.0.1:${port}`, clock });
    cleanups.push(() => client.close());
    const failed = expect(client.send(get('/api'))).rejects.toMatchObject({
      code: 'timeout',
      message: `the proxy 127.0.0.1:${port} did not open the connection within 10 s`,
    });
    await came;
    clock.advance(10_000);
    await failed;
  });

  it('is not asked any more once the transport is closed', async () => {
    const asked: string[] = [];
    const [port, proxy] = [await apiServer(), await httpProxy(asked)];
    let issue: (certificate: undefined) => void = () => undefined;
    const made = connect({
      server: `https://localhost:${port}`,
      caPem,
      proxyUrl: `http://me:p%40ss@127.0.0.1:${proxy}`,
      protocol: 'auto',
      clock: new FakeClock(),
      credentials: { headers: () => ({}), certificate: () => new Promise((issued) => (issue = issued)) },
    });
    const failed = expect(made.send(get('/api?watch=true'))).rejects.toMatchObject({ name: 'TransportError' });
    await Promise.resolve();
    const closed = made.close();
    issue(undefined);
    await closed;
    await failed;
    expect(asked).toEqual([]);
  });

  it('that says nothing is let go of when the transport is closed', async () => {
    const proxy = createServer();
    const silent = await listen(proxy);
    const came = new Promise((connection) => void proxy.once('connection', connection));
    const client = transport(6443, `http://127.0.0.1:${silent}`, 'http2');
    const failed = expect(client.send(get('/api'))).rejects.toMatchObject({ name: 'TransportError' });
    await came;
    await client.close();
    await failed;
  });
});
