import { createSecureServer } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpRequest } from '../../base/http-message.ts';
import { connect } from './connect.ts';
import { httpProxy, listening, socksProxy } from './proxies.fixture.ts';
import { caPem, serverCertPem, serverKeyPem } from './tls.fixture.ts';
import type { Transport } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  const { port, close } = await listening(server);
  cleanups.push(close);
  return port;
}

/** Answers with the version of HTTP of the request. */
function apiServer(): Promise<number> {
  const options = { key: serverKeyPem, cert: serverCertPem, allowHTTP1: true };
  return listen(createSecureServer(options, (request, response) => void response.end(request.httpVersion)));
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
  it.each(['auto', 'http1', 'http2'] as const)('with HTTP is asked to connect, for %s', async (protocol) => {
    const asked: string[] = [];
    const [port, proxy] = [await apiServer(), await listen(httpProxy(asked))];
    const client = transport(port, `http://me:p%40ss@127.0.0.1:${proxy}`, protocol);
    expect(await text(client, '/api')).toBe(protocol === 'http2' ? '2.0' : '1.1');
    expect(await text(client, '/api?watch=true')).toBe(protocol === 'http1' ? '1.1' : '2.0');
    expect(new Set(asked)).toEqual(new Set([`localhost:${port}`]));
  });

  it.each([undefined, 'me:secret'])('with SOCKS 5 is asked for the name, login %s', async (login) => {
    const asked: string[] = [];
    const [port, proxy] = [await apiServer(), await listen(socksProxy(asked, login))];
    const client = transport(port, `socks5://${login === undefined ? '' : `${login}@`}127.0.0.1:${proxy}`);
    expect(await text(client, '/api')).toBe('1.1');
    expect(await text(client, '/api?watch=true')).toBe('2.0');
    expect(new Set(asked)).toEqual(new Set([`localhost:${port}`]));
  });

  it('that refuses is named, with its reason', async () => {
    const [port, proxy] = [await apiServer(), await listen(httpProxy([]))];
    const socks = await listen(socksProxy([], 'me:secret'));
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

  it('with HTTPS has a certificate of its own, which has to be right', async () => {
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
    const [port, proxy] = [await apiServer(), await listen(httpProxy(asked))];
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

  it('that sends nothing is closed with the transport', async () => {
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
