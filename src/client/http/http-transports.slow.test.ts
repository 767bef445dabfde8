import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { constants, createSecureServer, createServer as createHttp2Server, type Http2Session } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { Deadline } from '../../base/time/deadline.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpRequest } from '../../base/http-message.ts';
import { clientCertificate, type Credentials } from './connect-options.ts';
import { connect } from './connect.ts';
import { http1Transport } from './http1-transport.ts';
import { http2Transport } from './http2-transport.ts';
import { caPem, clientCertPem, clientKeyPem, serverCertPem, serverKeyPem } from './tls.fixture.ts';
import { type Transport, TransportError } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Running {
  readonly port: number;
  /** TCP connections accepted so far. */
  readonly connections: Socket[];
}

async function listen(server: Server): Promise<Running> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => connections.push(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  );
  return { port: (server.address() as AddressInfo).port, connections };
}

function keep(transport: Transport): Transport {
  cleanups.push(() => transport.close());
  return transport;
}

const isWatch = ({ url }: { readonly url?: string | undefined }): boolean => url?.includes('watch=') === true;

/** Turns of the event loop, after which work without network is done. */
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Answers with the request that it got. */
const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { authorization, 'content-length': length } = request.headers;
    const seen = {
      method: request.method,
      url: request.url,
      body: Buffer.concat(chunks).toString(),
      length,
      authorization,
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(seen));
  });
};

const tls = { key: serverKeyPem, cert: serverCertPem };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The same handler over each protocol, and a transport to it. */
const protocols = {
  http1: async (handler: Handler, credentials?: Credentials) => {
    const running = await listen(createHttpServer(handler));
    const server = `http://127.0.0.1:${running.port}`;
    return { ...running, transport: keep(http1Transport({ server, ...(credentials && { credentials }) })) };
  },
  http1Tls: async (handler: Handler, credentials?: Credentials) => {
    const running = await listen(createHttpsServer(tls, handler));
    const server = `https://127.0.0.1:${running.port}`;
    return { ...running, transport: keep(http1Transport({ server, caPem, ...(credentials && { credentials }) })) };
  },
  http2: async (handler: Handler, credentials?: Credentials) => {
    const running = await listen(createSecureServer(tls, handler as never));
    const server = `https://127.0.0.1:${running.port}`;
    const transport = http2Transport({ server, caPem, clock: new FakeClock(), ...(credentials && { credentials }) });
    return { ...running, transport: keep(transport) };
  },
};

const get = (target: string, rest: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  target,
  headers: {},
  ...rest,
});

async function text(transport: Transport, request: HttpRequest): Promise<string> {
  const { body } = await transport.send(request);
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function echoed(transport: Transport, request: HttpRequest): Promise<Record<string, unknown>> {
  return JSON.parse(await text(transport, request)) as Record<string, unknown>;
}

describe.each(Object.entries(protocols))('%s transport', (name, start) => {
  it('PERFORMANCE trap 1 and 2: the body of a DELETE arrives', async () => {
    const { transport } = await start(echo);
    const body = Buffer.from('{"preconditions":{"uid":"ü"}}');
    const seen = await echoed(transport, get('/api/x?a=b%20c', { method: 'DELETE', body }));
    expect(seen).toMatchObject({
      method: 'DELETE',
      url: '/api/x?a=b%20c',
      body: body.toString(),
      length: String(body.length),
    });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s with and without a body', async (method) => {
    const { transport } = await start(echo);
    expect(await echoed(transport, get('/x', { method, body: Buffer.from('abc') }))).toMatchObject({
      method,
      body: 'abc',
    });
    expect(await echoed(transport, get('/x', { method }))).toMatchObject({ method, body: '' });
  });

  it('PERFORMANCE trap 3 and 4: a hundred requests use one connection, DELETEs with bodies too', async () => {
    const { transport, connections } = await start(echo);
    for (let i = 0; i < 50; i++) {
      await text(transport, get('/x', { method: 'DELETE', body: Buffer.from('{}') }));
      await text(transport, get('/x'));
    }
    expect(connections).toHaveLength(1);
  });

  it('adds credentials, and reports a 401 with the refused ones', async () => {
    const rejected: unknown[] = [];
    const headers = { authorization: 'Bearer t' };
    const { transport } = await start(
      (request, response) => {
        response.statusCode = request.url === '/denied' ? 401 : 200;
        response.end(request.headers.authorization);
      },
      { headers: () => headers, rejected: (carried) => void rejected.push(carried) },
    );
    expect(await text(transport, get('/x'))).toBe('Bearer t');
    expect([(await transport.send(get('/denied'))).status, rejected.length]).toEqual([401, 1]);
    expect(rejected[0]).toBe(headers);
  });

  it('sends nothing when there are no credentials to be had', async () => {
    const { transport, connections } = await start(echo, {
      headers: () => Promise.reject(new Error('plug-in failed')),
    });
    await expect(transport.send(get('/x'))).rejects.toThrow('plug-in failed');
    expect(connections).toHaveLength(0);
  });

  describe.each(['headers', 'certificate'] as const)('that waits for %s of the credentials', (part) => {
    const never = new Promise<never>(() => {});
    const credentials: Credentials = {
      headers: () => (part === 'headers' ? never : {}),
      ...(part === 'certificate' && { certificate: () => never }),
    };

    it('waits no longer than the request lasts', async () => {
      const { transport, connections } = await start(echo, credentials);
      const givenUp = new AbortController();
      const answer = transport.send(get('/x', { signal: givenUp.signal }));
      givenUp.abort();
      await expect(answer).rejects.toMatchObject({ code: 'aborted' });
      expect(connections).toHaveLength(0);
    });

    it('says what a request waited for whose time is over, and nothing of the server', async () => {
      const { transport } = await start(echo, credentials);
      const clock = new FakeClock();
      const signal = new Deadline({ clock, timeoutMs: 50 });
      const answer = transport.send(get('/x', { signal }));
      await turn();
      clock.advance(50);
      await expect(answer).rejects.toMatchObject({
        name: 'TransportError',
        code: 'refused',
        message: 'no credentials came before the request timed out after 50 ms',
      });
      // If the time was over before, the error does not mention the credentials either.
      await expect(transport.send(get('/x', { signal }))).rejects.toMatchObject({ code: 'timeout' });
    });
  });

  it('hands over the head before the body and chunks as they come', async () => {
    let next = (): void => {};
    const { transport } = await start((_, response) => {
      response.writeHead(200, { warning: '299 - "a, b"' });
      if ('flushHeaders' in response) response.flushHeaders();
      let n = 0;
      next = () => (n++ < 2 ? response.write(`line ${n}\n`) : response.end());
    });
    const { status, headers, body } = await transport.send(get('/watch'));
    expect([status, [headers['warning']].flat()]).toEqual([200, ['299 - "a, b"']]);
    const seen: string[] = [];
    next();
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      seen.push(Buffer.from(chunk).toString());
      next();
    }
    expect(seen).toEqual(['line 1\n', 'line 2\n']);
  });

  it('carries a large body whole', async () => {
    const large = 'x'.repeat(3_000_000);
    const { transport } = await start((_, response) => response.end(large));
    expect((await text(transport, get('/x'))).length).toBe(large.length);
  });

  it('rejects a request that is aborted before, during and after its head', async () => {
    const { transport } = await start((request, response) => {
      if (request.url === '/head') response.write('x');
    });
    await expect(transport.send(get('/x', { signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'aborted' });
    const during = new AbortController();
    const sent = transport.send(get('/never', { signal: during.signal }));
    setTimeout(() => during.abort(), 20);
    await expect(sent).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    const after = new AbortController();
    const { body } = await transport.send(get('/head', { signal: after.signal }));
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) if (chunk.length > 0) after.abort();
    })();
    await expect(reading).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
  });

  it('rejects a request that is aborted while its connection is made', async () => {
    const { transport } = await start(() => undefined);
    const stop = new AbortController();
    const sent = transport.send(get('/never', { signal: stop.signal }));
    // Before any network event can have happened.
    await Promise.resolve();
    stop.abort();
    await expect(sent).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
  });

  it('informs the server when the reader stops', async () => {
    let gone = (): void => {};
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const { transport } = await start((_, response) => {
      response.on('close', gone);
      response.write('x');
    });
    const { body } = await transport.send(get('/watch'));
    for await (const chunk of body as AsyncIterable<Uint8Array>) if (chunk.length > 0) break;
    await closed;
  });

  it('reports a connection that is cut inside a body', async () => {
    const { transport, connections } = await start((_, response) => response.write('x'));
    const { body } = await transport.send(get('/x'));
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) if (chunk.length > 0) connections[0]!.destroy();
    })();
    await expect(reading).rejects.toMatchObject({ name: 'TransportError', code: 'reset' });
  });

  it('reports a connection that is cut before the answer, and works again', async () => {
    let first = true;
    const { transport, connections } = await start((_, response) => {
      if (first) connections[0]!.destroy();
      else response.end('ok');
      first = false;
    });
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ name: 'TransportError', code: 'reset' });
    expect(await text(transport, get('/x'))).toBe('ok');
  });

  it('COL-214 asks when it sends whether a request may be sent, on a new connection and on one that was kept', async () => {
    const seen: (string | undefined)[] = [];
    const { transport } = await start((request, response) => {
      seen.push(request.url);
      response.end('ok');
    });
    const tooLate = new TransportError('aborted', 'too late');
    for (const when of ['new', 'kept']) {
      let allowed = true;
      const refusal = (): Error | undefined => (allowed ? undefined : tooLate);
      const sent = transport.send({ method: 'DELETE', target: `/${when}`, headers: {}, refusal });
      allowed = false;
      await expect(sent).rejects.toBe(tooLate);
      allowed = true;
      expect(await text(transport, get(`/after-${when}`, { refusal }))).toBe('ok');
    }
    expect(seen).toEqual(['/after-new', '/after-kept']);
  });

  it('ends requests under way, and refuses new ones, when closed', async () => {
    const { transport } = await start(() => {});
    const sent = transport.send(get('/x'));
    setTimeout(() => void transport.close(), 20);
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'aborted' });
  });

  it(`keeps many requests apart (${name})`, async () => {
    const { transport } = await start(echo);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => echoed(transport, get(`/n/${i}`))));
    expect(answers.map((a) => a['url'])).toEqual(Array.from({ length: 40 }, (_, i) => `/n/${i}`));
  });
});

describe('TLS', () => {
  const makers = {
    http1: (options: Parameters<typeof http2Transport>[0]) => http1Transport(options),
    http2: (options: Parameters<typeof http2Transport>[0]) => http2Transport(options),
  };
  const start = async (options: object = {}) => {
    const handler = (request: IncomingMessage, response: ServerResponse): void => {
      const peer = (request.socket as TLSSocket).getPeerCertificate();
      response.end(peer.subject === undefined ? 'nobody' : JSON.stringify(peer.subject));
    };
    const running = await listen(createSecureServer({ ...tls, ...options, allowHTTP1: true }, handler as never));
    return { server: `https://127.0.0.1:${running.port}`, clock: new FakeClock() };
  };

  it.each(Object.entries(makers))(
    '%s refuses a server signed by an unknown authority, unless verification is off',
    async (_, make) => {
      const options = await start();
      await expect(keep(make(options)).send(get('/x'))).rejects.toMatchObject({ name: 'TransportError', code: 'tls' });
      const careless = keep(make({ ...options, insecureSkipTlsVerify: true }));
      expect(await text(careless, get('/x'))).toBe('nobody');
    },
  );

  it.each(Object.entries(makers))('%s checks the server’s name, or another one when given', async (_, make) => {
    const options = { ...(await start()), caPem };
    await expect(keep(make({ ...options, tlsServerName: 'wrong.test' })).send(get('/x'))).rejects.toMatchObject({
      code: 'tls',
    });
    expect(await text(keep(make({ ...options, tlsServerName: 'api.test' })), get('/x'))).toBe('nobody');
  });

  it.each(Object.entries(makers))('%s presents a client certificate', async (_, make) => {
    const options = { ...(await start({ requestCert: true, ca: caPem })), caPem };
    const credentials = clientCertificate({ certPem: clientCertPem, keyPem: clientKeyPem });
    expect(await text(keep(make({ ...options, credentials })), get('/x'))).toBe('{"O":"system:masters","CN":"admin"}');
  });
});

describe('http1 transport', () => {
  it('reports a server that is not there', async () => {
    const { port } = await (async () => {
      const server = createTcpServer();
      const running = await listen(server);
      await cleanups.pop()?.();
      return running;
    })();
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'refused' });
  });

  it('reports a server that does not speak HTTP', async () => {
    const { port } = await listen(createTcpServer((socket) => socket.end('SSH-2.0-x\r\n\r\n')));
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'protocol' });
  });

  it.each([
    ['a chunk', 'transfer-encoding: chunked\r\n\r\n5\r\nab'],
    ['a chunk of the last answer', 'connection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'],
    ['a small body', 'content-length: 5\r\n\r\nab'],
    ['a small body of the last answer', 'connection: close\r\ncontent-length: 5\r\n\r\nab'],
    ['a large body', 'content-length: 5000000\r\n\r\nab'],
  ])('takes no answer for whole that is cut off inside %s', async (_, rest) => {
    const { port } = await listen(
      createTcpServer((socket) => void socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    await expect(text(transport, get('/x'))).rejects.toMatchObject({ name: 'TransportError', code: 'reset' });
  });

  it('passes over what only announces an answer', async () => {
    const { port } = await listen(
      createTcpServer(
        (socket) =>
          void socket.once('data', () =>
            socket.end('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
          ),
      ),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    expect(await text(transport, get('/x'))).toBe('ok');
  });

  it('opens other connections for another client certificate, and lets those of before finish', async () => {
    let certificate = { certPem: clientCertPem, keyPem: clientKeyPem };
    const slow: ServerResponse[] = [];
    const { port, connections } = await listen(
      createHttpsServer({ ...tls, requestCert: true, ca: caPem }, (request, response) =>
        request.url === '/slow' ? void slow.push(response) : void response.end('ok'),
      ),
    );
    const credentials = { headers: () => ({}), certificate: () => certificate };
    const transport = keep(http1Transport({ server: `https://127.0.0.1:${port}`, caPem, credentials }));
    const before = text(transport, get('/slow'));
    await expect.poll(() => slow.length).toBe(1);
    expect([await text(transport, get('/x')), await text(transport, get('/x')), connections.length]).toEqual([
      'ok',
      'ok',
      2,
    ]);
    certificate = { certPem: `${clientCertPem}\n`, keyPem: clientKeyPem };
    expect([await text(transport, get('/x')), connections.length]).toEqual(['ok', 3]);
    slow[0]!.end('late');
    expect(await before).toBe('late');
  });

  /** A server that keeps `/slow` waiting, and a transport with a certificate that can be replaced. */
  const withCertificate = async (options: { readonly maxConnections?: number } = {}) => {
    const slow: ServerResponse[] = [];
    const { port, connections } = await listen(
      createHttpServer((request, response) => {
        if (isWatch(request)) response.write('.');
        else if (request.url !== '/slow') response.end('ok');
        else slow.push(response);
      }),
    );
    let certificate: ReturnType<NonNullable<Credentials['certificate']>> = { certPem: 'A', keyPem: '' };
    const credentials: Credentials = { headers: () => ({}), certificate: () => certificate };
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}`, credentials, ...options }));
    return { slow, connections, transport, replace: (next: typeof certificate) => (certificate = next) };
  };
  const another = { certPem: 'B', keyPem: '' };

  it('ends what is under way on connections that another certificate has replaced, when closed', async () => {
    const { transport, replace } = await withCertificate();
    const { body } = await transport.send(get('/x?watch=true'));
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) expect(chunk.length).toBe(1);
    })();
    replace(another);
    expect(await text(transport, get('/x'))).toBe('ok');
    const ended = expect(reading).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    await Promise.all([transport.close(), ended]);
  });

  it('sends what waits for a connection over those with another certificate, once there are such', async () => {
    const { slow, connections, transport, replace } = await withCertificate({ maxConnections: 1 });
    const first = text(transport, get('/slow'));
    await expect.poll(() => slow.length).toBe(1);
    const waiting = Array.from({ length: 3 }, () => text(transport, get('/x', { method: 'DELETE' })));
    await turn();
    replace(another);
    expect(await text(transport, get('/x'))).toBe('ok');
    expect([await Promise.all(waiting), connections.length]).toEqual([['ok', 'ok', 'ok'], 2]);
    slow[0]!.end('late');
    expect(await first).toBe('late');
  });

  it('rejects what waits for a connection when closed', async () => {
    const { slow, transport } = await withCertificate({ maxConnections: 1 });
    const sent = Promise.allSettled([transport.send(get('/slow')), transport.send(get('/x'))]);
    await expect.poll(() => slow.length).toBe(1);
    await transport.close();
    const ended = { status: 'rejected', reason: { message: 'the transport is closed', code: 'aborted' } };
    expect(await sent).toMatchObject([ended, ended]);
  });

  it('reads again over the connections with another certificate when one of before turns out to be closed', async () => {
    const { slow, connections, transport, replace } = await withCertificate();
    await text(transport, get('/x'));
    const again = text(transport, get('/slow'));
    await expect.poll(() => slow.length).toBe(1);
    replace(another);
    expect(await text(transport, get('/x'))).toBe('ok');
    connections[0]!.destroy();
    await expect.poll(() => slow.length).toBe(2);
    slow[1]!.end('read');
    expect([await again, connections.length]).toEqual(['read', 2]);
  });

  it('opens nothing for a certificate that comes after it was closed', async () => {
    const { connections, transport, replace } = await withCertificate();
    await text(transport, get('/x'));
    let issue: (certificate: typeof another) => void = () => undefined;
    replace(new Promise((resolve) => (issue = resolve)));
    const sent = transport.send(get('/x'));
    const refused = expect(sent).rejects.toMatchObject({ code: 'aborted', message: 'the transport is closed' });
    await turn();
    await transport.close();
    issue(another);
    await refused;
    // An unhandled rejection would be reported now.
    await turn();
    expect(connections).toHaveLength(1);
  });

  it('gives up a request that waits for its turn', async () => {
    const { port } = await listen(createHttpServer(() => undefined));
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}`, maxConnections: 1 }));
    const stop = new AbortController();
    const first = transport.send(get('/never'));
    const second = transport.send(get('/x', { signal: stop.signal }));
    stop.abort();
    await expect(second).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    await transport.close();
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
  });

  it('does not send what is given up in the moment it gets its turn, because the same signal ended what had the place', async () => {
    const seen: (string | undefined)[] = [];
    const { port } = await listen(
      createHttpServer((request, response) => {
        seen.push(request.url);
        if (request.url === '/after') response.end('ok');
      }),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}`, maxConnections: 1 }));
    const stop = new AbortController();
    const { signal } = stop;
    const sent = Promise.allSettled([transport.send(get('/1', { signal })), transport.send(get('/2', { signal }))]);
    await expect.poll(() => seen).toEqual(['/1']);
    stop.abort();
    const aborted = { status: 'rejected', reason: { name: 'TransportError', code: 'aborted' } };
    expect(await sent).toMatchObject([aborted, aborted]);
    expect([await text(transport, get('/after')), seen]).toEqual(['ok', ['/1', '/after']]);
  });

  it('does not read ahead of a reader that is slow', async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const { port } = await listen(
      createHttpServer((_, response) => {
        const more = (): void => {
          while (written < 2000 && response.write(chunk)) written++;
        };
        response.on('drain', more);
        more();
      }),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    const { body } = await transport.send(get('/x'));
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await reader.next();
    // Without back-pressure, 128 MB would be sent; the kernel's buffers take only a few.
    let before = -1;
    await expect.poll(() => before === (before = written), { interval: 50 }).toBe(true);
    expect(written).toBeLessThan(1000);
    await reader.return?.();
  });

  it('puts the path of the server’s URL before that of the request', async () => {
    const { port } = await listen(createHttpServer(echo));
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}/k8s/clusters/c-1/` }));
    expect(await echoed(transport, get('/api'))).toMatchObject({ url: '/k8s/clusters/c-1/api' });
  });

  it('reads again when a kept connection turns out to be closed, but writes nothing twice', async () => {
    const seen: string[] = [];
    const { port, connections } = await listen(
      createHttpServer((request, response) => {
        seen.push(`${request.method} ${request.url}`);
        if (request.url === '/cut' && connections.length === 1) request.socket.destroy();
        else response.end('ok');
      }),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    await text(transport, get('/x'));
    expect(await text(transport, get('/cut'))).toBe('ok');
    connections.length = 0;
    const cut = keep(http1Transport({ server: `http://127.0.0.1:${port}` }));
    await text(cut, get('/x'));
    await expect(cut.send(get('/cut', { method: 'DELETE' }))).rejects.toMatchObject({ code: 'reset' });
    expect(seen.slice(3)).toEqual(['GET /x', 'DELETE /cut']);
  });

  it('opens no more connections than allowed', async () => {
    const { port, connections } = await listen(createHttpServer(echo));
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}`, maxConnections: 3 }));
    await Promise.all(Array.from({ length: 30 }, () => text(transport, get('/x'))));
    expect(connections).toHaveLength(3);
  });

  it('COL-214 keeps nothing waiting for watches: they have connections of their own', async () => {
    const { port, connections } = await listen(
      createHttpServer((request, response) => (isWatch(request) ? response.write('.') : response.end(request.method))),
    );
    const transport = keep(connect({ server: `http://127.0.0.1:${port}`, clock: new FakeClock() }));
    const watches = await Promise.all(Array.from({ length: 300 }, () => transport.send(get('/x?watch=true'))));
    expect(watches.map(({ status }) => status)).toEqual(Array.from({ length: 300 }, () => 200));
    expect(await text(transport, get('/x', { method: 'DELETE' }))).toBe('DELETE');
    expect(connections).toHaveLength(301);
  });

  it('refuses more watches than it may have connections for, and takes them again when others have ended', async () => {
    const watches: ServerResponse[] = [];
    const { port } = await listen(
      createHttpServer((_, response) => {
        response.write('.');
        watches.push(response);
      }),
    );
    const transport = keep(http1Transport({ server: `http://127.0.0.1:${port}`, maxWatchConnections: 2 }));
    const first = text(transport, get('/x?watch=true'));
    const second = await transport.send(get('/x?watch=true'));
    const refused = {
      name: 'TransportError',
      code: 'refused',
      message: 'all 2 connections that watches may have over HTTP/1.1 are taken',
    };
    await expect(transport.send(get('/x?watch=true'))).rejects.toMatchObject(refused);
    for (const response of watches) response.end();
    expect([await first, second.status]).toEqual(['.', 200]);
    expect((await transport.send(get('/x?watch=1'))).status).toBe(200);
  });

  it.skipIf(!existsSync('/proc/net/tcp')).each(['http', 'https'] as const)(
    'has the kernel ask after half a minute whether the other side of a quiet watch is there: %s',
    async (scheme) => {
      const handler: Handler = (_, response) => void response.write('.');
      const { port, connections } = await listen(
        scheme === 'http' ? createHttpServer(handler) : createHttpsServer(tls, handler),
      );
      const transport = keep(http1Transport({ server: `${scheme}://127.0.0.1:${port}`, caPem }));
      const { body } = await transport.send(get('/x?watch=true'));
      await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next();
      const hex = (end: number): string => `0100007F:${end.toString(16).toUpperCase().padStart(4, '0')}`;
      const ends = `${hex(connections[0]!.remotePort ?? 0)} ${hex(port)}`;
      // Once everything is acknowledged, only the keep-alive timer runs: kind 02, and its remaining time in hundredths of a second.
      const timer = async () => {
        const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
        return lines.find(([, from, to]) => `${from} ${to}` === ends)?.[5]?.split(':') ?? [];
      };
      await expect.poll(async () => (await timer())[0]).toBe('02');
      expect(Number.parseInt((await timer())[1] ?? '', 16)).toBeLessThanOrEqual(3000);
    },
  );

  it('refuses other kinds of URL', () => {
    expect(() => http1Transport({ server: 'unix:///var/run/x' })).toThrow('unsupported server URL');
  });
});

describe('http2 transport', () => {
  it('opens another session after GOAWAY and lets the old one finish', async () => {
    const sessions: Http2Session[] = [];
    const answers: (() => void)[] = [];
    const server = createSecureServer(tls, (request, response) => {
      if (request.url === '/slow') answers.push(() => response.end('late'));
      else response.end('ok');
    });
    server.on('session', (session) => sessions.push(session));
    const { port } = await listen(server);
    const transport = keep(http2Transport({ server: `https://127.0.0.1:${port}`, caPem, clock: new FakeClock() }));
    const slow = text(transport, get('/slow'));
    await expect.poll(() => answers.length).toBe(1);
    sessions[0]!.goaway();
    await expect
      .poll(async () => {
        await text(transport, get('/x'));
        return sessions.length;
      })
      .toBe(2);
    answers[0]!();
    expect(await slow).toBe('late');
  });

  /** A server that allows this many streams in a session and sends the head of every watch, and a transport to it. */
  const limited = async (maxConcurrentStreams: number) => {
    const clock = new FakeClock();
    const watches: ServerResponse[] = [];
    const sessions: Http2Session[] = [];
    const server = createHttp2Server({ settings: { maxConcurrentStreams } }, ((request, response) => {
      if (!isWatch(request)) return void response.end('ok');
      response.write('.');
      watches.push(response);
    }) as Handler as never);
    server.on('session', (session) => sessions.push(session));
    const { port, connections } = await listen(server);
    const transport = keep(http2Transport({ server: `http://127.0.0.1:${port}`, clock }));
    const watch = (): Promise<string> => text(transport, get('/x?watch=true'));
    return { clock, watches, sessions, connections, transport, watch };
  };

  it('opens another session when one has as many streams as the server allows: 100 of kube-apiserver', async () => {
    const { watches, connections, transport } = await limited(100);
    const sent = Array.from({ length: 201 }, () => transport.send(get('/x?watch=true')));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array.from({ length: 201 }, () => 200));
    expect([watches.length, connections.length]).toEqual([201, 3]);
    expect([await text(transport, get('/x')), connections.length]).toEqual(['ok', 3]);
  });

  it('keeps to a limit that the server lowers later', async () => {
    const { sessions, watches, connections, transport } = await limited(100);
    const heads = [await transport.send(get('/x?watch=true')), await transport.send(get('/x?watch=true'))];
    await new Promise<void>((resolve) => {
      sessions[0]!.settings({ maxConcurrentStreams: 2 }, () => resolve());
    });
    heads.push(await transport.send(get('/x?watch=true')));
    expect(heads.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([watches.length, connections.length]).toEqual([3, 2]);
  });

  it('closes a session without streams after a while when another one has room, and keeps the last', async () => {
    const { clock, watches, connections, watch, transport } = await limited(2);
    const read = [watch(), watch(), watch()];
    await expect.poll(() => [watches.length, connections.length]).toEqual([3, 2]);
    /** Advances half a minute twice, and waits each time until all pinged connections have answered. */
    const later = async (): Promise<boolean[]> => {
      for (let i = 0; i < 2; i++) {
        clock.advance(30_000);
        await expect.poll(() => clock.nextTimerInMs).toBe(30_000);
      }
      return connections.map(({ destroyed }) => !destroyed);
    };
    watches[2]!.end('end');
    expect(await read[2]).toBe('.end');
    // The first connection is full, so every other request needs the second.
    expect([await later(), clock.pendingTimers]).toEqual([[true, true], 2]);
    watches[0]!.end('end');
    expect(await read[0]).toBe('.end');
    await later();
    await expect.poll(() => [connections[1]!.destroyed, clock.pendingTimers]).toEqual([true, 1]);
    watches[1]!.end('end');
    expect(await read[1]).toBe('.end');
    expect([await later(), await text(transport, get('/x'))]).toEqual([[true, false], 'ok']);
    expect(connections).toHaveLength(2);
  });

  it('opens 256 sessions and no more', async () => {
    const { connections, transport } = await limited(1);
    const sent = Array.from({ length: 257 }, () => transport.send(get('/x?watch=true')));
    const outcomes = (await Promise.allSettled(sent)).map((one) =>
      one.status === 'fulfilled' ? one.value.status : (one.reason as TransportError).code,
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 256 }, () => 200), 'refused']);
    expect(connections).toHaveLength(256);
  });

  it('ends what is under way on all sessions when closed, and one that is being opened', async () => {
    const { clock, watches, watch, transport } = await limited(1);
    const read = [watch(), watch(), watch()];
    await expect.poll(() => watches.length).toBe(3);
    read.push(watch());
    const ends = read.map((one) => expect(one).rejects.toMatchObject({ name: 'TransportError' }));
    await Promise.all([transport.close(), ...ends]);
    await expect.poll(() => clock.pendingTimers).toBe(0);
  });

  it('gives up a request to a server that ends each session as soon as it is open', async () => {
    const server = createHttp2Server();
    server.on('session', (session) => session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM));
    const { port, connections } = await listen(server);
    const transport = keep(http2Transport({ server: `http://127.0.0.1:${port}`, clock: new FakeClock() }));
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ name: 'TransportError' });
    expect(connections.length).toBeLessThanOrEqual(2);
  });

  it('opens another session for another client certificate, and lets a watch on that of before finish', async () => {
    let certificate = { certPem: clientCertPem, keyPem: clientKeyPem };
    const watches: ServerResponse[] = [];
    const { port, connections } = await listen(
      createSecureServer({ ...tls, requestCert: true, ca: caPem }, ((request, response) => {
        if (request.url !== '/watch') return void response.end('ok');
        response.write('one ');
        watches.push(response);
      }) as Handler as never),
    );
    const clock = new FakeClock();
    const credentials = { headers: () => ({}), certificate: () => certificate };
    const transport = keep(http2Transport({ server: `https://127.0.0.1:${port}`, caPem, clock, credentials }));
    const watch = text(transport, get('/watch'));
    await expect.poll(() => watches.length).toBe(1);
    expect([await text(transport, get('/x')), connections.length]).toEqual(['ok', 1]);
    certificate = { certPem: `${clientCertPem}\n`, keyPem: clientKeyPem };
    const both = [text(transport, get('/x')), text(transport, get('/x'))];
    expect([await Promise.all(both), await text(transport, get('/x')), connections.length]).toEqual([
      ['ok', 'ok'],
      'ok',
      2,
    ]);
    watches[0]!.write('two ');
    watches[0]!.end('three');
    expect(await watch).toBe('one two three');
    // Nothing of the old session stays.
    await expect.poll(() => [connections[0]!.destroyed, clock.pendingTimers]).toEqual([true, 1]);
    expect([await text(transport, get('/x')), connections.length]).toEqual(['ok', 2]);
  });

  it('loses no request that was about to go to a session whose certificate is replaced', async () => {
    const answers = ['A', 'A', 'B'];
    const certificate = () => ({ certPem: answers.shift() ?? 'B', keyPem: '' });
    const { port, connections } = await listen(createHttp2Server((_, response) => response.end('ok')));
    const credentials = { headers: () => ({}), certificate };
    const transport = keep(http2Transport({ server: `http://127.0.0.1:${port}`, clock: new FakeClock(), credentials }));
    const sent = Array.from({ length: 3 }, () => transport.send(get('/x', { method: 'DELETE' })));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(connections).toHaveLength(2);
  });

  it('ends what is under way on a session that another certificate has replaced, when closed', async () => {
    const clock = new FakeClock();
    let certPem = 'A';
    const { port } = await listen(
      createHttp2Server((request, response) => void (request.url === '/x' ? response.end('ok') : response.write('.'))),
    );
    const credentials = { headers: () => ({}), certificate: () => ({ certPem, keyPem: '' }) };
    const transport = http2Transport({ server: `http://127.0.0.1:${port}`, clock, credentials });
    const { body } = await transport.send(get('/watch'));
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) expect(chunk.length).toBe(1);
    })();
    certPem = 'B';
    expect(await text(transport, get('/x'))).toBe('ok');
    await Promise.all([transport.close(), expect(reading).rejects.toMatchObject({ name: 'TransportError' })]);
    await expect.poll(() => clock.pendingTimers).toBe(0);
  });

  it.each([
    ['a known length', { 'content-length': 2 }],
    ['an unknown length', {}],
  ])('resets no stream whose answer of %s was read: servers drop sessions after a thousand', async (_, headers) => {
    const server = createSecureServer(tls, (request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(200, headers).end('ok'));
    });
    const { port, connections } = await listen(server);
    const transport = keep(http2Transport({ server: `https://127.0.0.1:${port}`, caPem, clock: new FakeClock() }));
    const requests = [get('/read'), get('/deleted', { method: 'DELETE', body: Buffer.from('{}') })];
    const loop = async (): Promise<void> => {
      for (let round = 0; round < 40; round++)
        for (const request of requests) expect(await text(transport, request)).toBe('ok');
    };
    await Promise.all(Array.from({ length: 20 }, loop));
    expect(connections).toHaveLength(1);
  });

  it.each([
    ['a session', 'none'],
    ['a session that another certificate has replaced', 'certificate'],
    ['a session that ends with a GOAWAY', 'goaway'],
  ])('gives up %s whose other side is gone without a word', async (_, replaced) => {
    const clock = new FakeClock();
    let certPem = 'A';
    const credentials = { headers: () => ({}), certificate: () => ({ certPem, keyPem: '' }) };
    let silent = false;
    const sessions: Http2Session[] = [];
    const server = createHttp2Server(
      (request, response) => void (request.url === '/x' ? response.end('ok') : response.write('.')),
    );
    server.on('session', (session) => sessions.push(session));
    const backend = await listen(server);
    // A proxy that can stop forwarding, like a path that is broken in the middle.
    const proxy = createTcpServer((client) => {
      const upstream = new (client.constructor as new () => Socket)().connect(backend.port, '127.0.0.1');
      client.on('data', (data) => void (silent || upstream.write(data)));
      upstream.on('data', (data) => void (silent || client.write(data)));
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    });
    const { port } = await listen(proxy);
    const transport = keep(http2Transport({ server: `http://127.0.0.1:${port}`, clock, credentials }));
    const { body } = await transport.send(get('/watch'));
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) expect(chunk.length).toBe(1);
    })();
    if (replaced === 'certificate') certPem = 'B';
    if (replaced === 'goaway') sessions[0]!.goaway();
    if (replaced !== 'none') {
      await expect.poll(async () => [await text(transport, get('/x')), backend.connections.length]).toEqual(['ok', 2]);
      expect(clock.pendingTimers).toBe(2);
    }
    // A session that lives answers the ping and stays.
    clock.advance(30_000);
    await expect.poll(() => clock.nextTimerInMs).toBe(30_000);
    expect(clock.pendingTimers).toBe(replaced === 'none' ? 1 : 2);
    silent = true;
    clock.advance(30_000);
    clock.advance(15_000);
    await expect(reading).rejects.toMatchObject({ name: 'TransportError', code: 'timeout' });
    silent = false;
    expect(await text(transport, get('/x'))).toBe('ok');
  });

  it('reports a server that is not there, again and again, and finds it when it comes', async () => {
    const server = createHttp2Server((_, response) => response.end('ok'));
    const { port } = await listen(server);
    await cleanups.pop()?.();
    const transport = keep(http2Transport({ server: `http://127.0.0.1:${port}`, clock: new FakeClock() }));
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'refused' });
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'refused' });
    const again = createHttp2Server((_, response) => response.end('ok'));
    await new Promise<void>((resolve) => {
      again.listen(port, '127.0.0.1', resolve);
    });
    cleanups.push(() => again.close());
    expect(await text(transport, get('/x'))).toBe('ok');
  });
});

describe('connect', () => {
  const versions = (request: IncomingMessage, response: ServerResponse): void => void response.end(request.httpVersion);
  const ask = async (server: string, protocol: 'auto' | 'http1' | 'http2') => {
    const transport = keep(connect({ server, caPem, protocol, clock: new FakeClock() }));
    return [await text(transport, get('/api/v1/pods')), await text(transport, get('/api/v1/pods?watch=true'))];
  };

  it('PERFORMANCE trap 10: watches share a session where the server offers HTTP/2', async () => {
    const { port } = await listen(createSecureServer({ ...tls, allowHTTP1: true }, versions as never));
    const server = `https://localhost:${port}`.replace('localhost', '127.0.0.1');
    expect(await ask(server, 'auto')).toEqual(['1.1', '2.0']);
    expect(await ask(server, 'http1')).toEqual(['1.1', '1.1']);
    expect(await ask(server, 'http2')).toEqual(['2.0', '2.0']);
  });

  it('uses HTTP/1.1 for everything elsewhere', async () => {
    const secure = await listen(createHttpsServer(tls, versions));
    expect(await ask(`https://127.0.0.1:${secure.port}`, 'auto')).toEqual(['1.1', '1.1']);
    const plain = await listen(createHttpServer(versions));
    expect(await ask(`http://127.0.0.1:${plain.port}`, 'auto')).toEqual(['1.1', '1.1']);
  });

  it('watches go on with the certificate that is issued after a 401', async () => {
    let issued = 1;
    const credentials = {
      headers: () => ({}),
      certificate: () => ({ certPem: clientCertPem + '\n'.repeat(issued), keyPem: clientKeyPem }),
      rejected: () => void issued++,
    };
    let expired: Socket | undefined;
    const handler: Handler = (request, response) => {
      response.statusCode = connections.at(-1) === expired ? 401 : 200;
      response.end(request.httpVersion);
    };
    const { port, connections } = await listen(
      createSecureServer({ ...tls, requestCert: true, ca: caPem, allowHTTP1: true }, handler as never),
    );
    const server = `https://127.0.0.1:${port}`;
    const transport = keep(connect({ server, caPem, credentials, clock: new FakeClock() }));
    const watch = () => transport.send(get('/api/v1/pods?watch=true')).then(({ status }) => status);
    expect(await watch()).toBe(200);
    expired = connections.at(-1);
    expect([await watch(), await watch(), await watch()]).toEqual([401, 200, 200]);
    expect(issued).toBe(2);
  });

  it('closes at once while credentials for a watch are still waited for', async () => {
    const { port, connections } = await listen(createSecureServer({ ...tls, allowHTTP1: true }, versions as never));
    const credentials = { headers: () => ({}), certificate: () => new Promise<never>(() => {}) };
    const transport = connect({ server: `https://127.0.0.1:${port}`, caPem, credentials, clock: new FakeClock() });
    const watching = transport.send(get('/x?watch=true'));
    watching.catch(() => undefined);
    await turn();
    await transport.close();
    await expect(watching).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    expect(connections).toEqual([]);
  });

  it('asks again when the server was away at first', async () => {
    const first = createHttpsServer(tls, versions);
    const { port } = await listen(first);
    await cleanups.pop()?.();
    const transport = keep(connect({ server: `https://127.0.0.1:${port}`, caPem, clock: new FakeClock() }));
    await expect(transport.send(get('/x?watch=true'))).rejects.toMatchObject({ code: 'refused' });
    const again = createSecureServer({ ...tls, allowHTTP1: true }, versions as never);
    await new Promise<void>((resolve) => {
      again.listen(port, '127.0.0.1', resolve);
    });
    cleanups.push(() => again.close());
    expect(await text(transport, get('/x?watch=true'))).toBe('2.0');
  });
});

describe.each([
  ['http2', { target: '/x', protocol: 'http2' }],
  ['a watch that asks for HTTP/2 first', { target: '/x?watch=true', protocol: 'auto' }],
] as const)('a connection that never opens: %s', (_, { target, protocol }) => {
  const request: HttpRequest = { method: 'GET', target, headers: {} };
  /** A server that accepts connections and sends nothing; calls `onAccepted` for each. */
  async function silent(onAccepted: (socket: Socket) => void = () => undefined) {
    const clock = new FakeClock();
    let accept = (): void => {};
    const accepted = new Promise<void>((resolve) => (accept = resolve));
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onAccepted(socket);
      accept();
    });
    const { port } = await listen(server);
    const transport = connect({ server: `https://127.0.0.1:${port}`, caPem, clock, protocol });
    return { clock, accepted, transport };
  }

  it('ends after ten seconds', async () => {
    const { clock, accepted, transport } = await silent();
    const sent = transport.send(request);
    sent.catch(() => undefined);
    await accepted;
    clock.advance(10_000);
    await expect(sent).rejects.toMatchObject({ name: 'TransportError', code: 'timeout' });
    await transport.close();
  });

  it('ends at once for who is not interested any more, and for nobody else', async () => {
    const { clock, accepted, transport } = await silent();
    const controller = new AbortController();
    const patient = transport.send(request);
    const sent = transport.send({ ...request, signal: controller.signal });
    for (const each of [patient, sent]) each.catch(() => undefined);
    await accepted;
    controller.abort();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    expect(await Promise.race([patient.catch(() => 'ended'), Promise.resolve('waits')])).toBe('waits');
    clock.advance(10_000);
    await expect(patient).rejects.toMatchObject({ code: 'timeout' });
    await transport.close();
  });

  it('ends when the server hangs up without a word', async () => {
    const { transport } = await silent((socket) => socket.end());
    await expect(transport.send(request)).rejects.toMatchObject({ code: 'reset' });
    await transport.close();
  });

  it('does not keep the transport from closing', async () => {
    const { accepted, transport } = await silent();
    const sent = transport.send(request);
    sent.catch(() => undefined);
    await accepted;
    await transport.close();
    await expect(sent).rejects.toMatchObject({ name: 'TransportError' });
  });
});

/** Less than the time that a connection may take to open. */
const AT_ONCE_MS = 20_000;

describe.each([
  ['http1', { target: '/x', protocol: 'http1' }],
  ['http2', { target: '/x', protocol: 'http2' }],
  ['a watch that asks for HTTP/2 first', { target: '/x?watch=true', protocol: 'auto' }],
] as const)('a connection whose TLS handshake nobody answers: %s', (_, { target, protocol }) => {
  it.each([
    { how: 'that somebody waits for', patience: 'patient', through: 'none' },
    { how: 'that nobody waits for any more', patience: 'none', through: 'none' },
    { how: 'through a proxy', patience: 'none', through: 'proxy' },
  ])(
    '$how is ended when the transport is closed',
    async ({ patience, through }) => {
      let began = (): void => undefined;
      const begun = new Promise<void>((resolve) => (began = resolve));
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined).once('data', () => began());
        if (through === 'proxy') socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      });
      const { port, connections } = await listen(server);
      const transport = connect({
        server: `https://127.0.0.1:${port}`,
        caPem,
        clock: new FakeClock(),
        protocol,
        ...(through === 'proxy' && { proxyUrl: `http://127.0.0.1:${port}` }),
      });
      const givenUp = new AbortController();
      const sent = transport.send(get(target, { signal: givenUp.signal }));
      sent.catch(() => undefined);
      await begun;
      // The first bytes to a proxy are no handshake.
      if (through === 'proxy') await new Promise((resolve) => void connections[0]!.once('data', resolve));
      if (patience === 'none') givenUp.abort();
      const ended = new Promise((resolve) => void connections[0]!.once('close', resolve));
      await transport.close();
      await expect(sent).rejects.toMatchObject({ name: 'TransportError' });
      await ended;
    },
    AT_ONCE_MS,
  );
});
