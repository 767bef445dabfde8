import { connect, constants } from 'node:http2';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import type { HttpHandler, HttpRequest } from '../../base/http-message.ts';
import { systemRandom } from '../../base/random/random.ts';
import { createServingCertificates, type ServingCertificates } from '../authentication/certificates.ts';
import { serve, type HttpServer } from './http-server.ts';
import { withSubject } from './peculiar-certificate.fixture.ts';

let certificates: ServingCertificates;
const servers: HttpServer[] = [];

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(handler: HttpHandler, bodyLimit?: number): Promise<HttpServer> {
  const server = await serve({
    handler,
    host: '127.0.0.1',
    port: 0,
    tls: { keyPem: certificates.keyPem, certPem: certificates.certPem, clientCaPem: certificates.caPem },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  });
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function https(server: HttpServer, options: RequestOptions & { body?: Uint8Array | string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port: server.port, ca: certificates.caPem, agent: false, ...options },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });
}

async function overHttp2(
  server: HttpServer,
  credentials: { readonly cert?: string; readonly key?: string },
): Promise<string> {
  const session = connect(server.url, { ca: certificates.caPem, ...credentials });
  try {
    return await new Promise<string>((resolve, reject) => {
      const stream = session.request({ ':path': '/' });
      let body = '';
      stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
      stream.on('end', () => resolve(body));
      stream.on('error', reject);
    });
  } finally {
    session.close();
  }
}

const text = (body: string) => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from(body) });
const echo: HttpHandler = async (request) => {
  await request.load?.();
  return text(
    JSON.stringify({
      method: request.method,
      target: request.target,
      body: Buffer.from(request.body ?? []).toString(),
      peer: request.peer,
    }),
  );
};

describe('http server', () => {
  it('API-015 speaks HTTP/1.1 and HTTP/2 on one port', async () => {
    const server = await start(echo);
    const one = await https(server, { method: 'POST', path: '/a?b=1', body: 'hello' });
    expect(JSON.parse(one.body)).toEqual({ method: 'POST', target: '/a?b=1', body: 'hello' });
    expect(one.headers['content-length']).toBe(String(one.body.length));

    const session = connect(server.url, { ca: certificates.caPem });
    const two = await new Promise<string>((resolve, reject) => {
      const stream = session.request({ ':method': 'DELETE', ':path': '/x' }, { endStream: false });
      let body = '';
      stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
      stream.on('end', () => resolve(body));
      stream.on('error', reject);
      stream.end('options');
    });
    session.close();
    expect(JSON.parse(two)).toEqual({ method: 'DELETE', target: '/x', body: 'options' });
  });

  it('API-371 hands the subject of a client certificate of our authority to the handler', async () => {
    const server = await start(echo);
    const answer = await https(server, { path: '/', cert: certificates.clientCertPem, key: certificates.clientKeyPem });
    expect(JSON.parse(answer.body)).toMatchObject({
      peer: { commonName: 'kubegc-admin', organizations: ['system:masters'] },
    });
  });

  it('API-371 a certificate of another authority, or for a server, is refused, which is not the same as none', async () => {
    const server = await start(echo);
    const other = await createServingCertificates({ clock: systemClock, random: systemRandom });
    const wrong = [
      { cert: other.clientCertPem, key: other.clientKeyPem },
      { cert: certificates.certPem, key: certificates.keyPem },
    ];
    for (const credentials of wrong) {
      const one = await https(server, { path: '/', ...credentials });
      expect(JSON.parse(one.body).peer).toBe('refused');
      expect(JSON.parse(await overHttp2(server, credentials)).peer).toBe('refused');
    }
    expect(JSON.parse(await overHttp2(server, {})).peer).toBeUndefined();
  });

  it('API-371 the peer has the uid of its subject, the last of several names, and the fingerprint of its certificate', async () => {
    const server = await start(echo);
    const attributes = [
      ['2.5.4.10', 'one'],
      ['2.5.4.10', 'two'],
      ['2.5.4.3', 'first'],
      ['2.5.4.3', 'last'],
      ['1.3.6.1.4.1.57683.2', 'u-1'],
    ] as const;
    const client = { certPem: certificates.clientCertPem, keyPem: certificates.clientKeyPem };
    const { cert, key, fingerprint } = withSubject(client, attributes, certificates.caKeyPem);
    const expected = { commonName: 'last', organizations: ['one', 'two'], uid: 'u-1', fingerprint };
    const credentials = { cert, key };
    expect(JSON.parse((await https(server, { path: '/', ...credentials })).body).peer).toEqual(expected);
    expect(JSON.parse(await overHttp2(server, credentials)).peer).toEqual(expected);
  });

  it('API-007 an oversized body reaches the handler one byte over the limit, and the connection ends', async () => {
    let seen = 0;
    const server = await start(async (request) => {
      await request.load?.();
      seen = request.body?.length ?? 0;
      return { status: 413, headers: {}, body: Buffer.from('too large') };
    }, 1000);
    const answer = await https(server, { method: 'POST', path: '/', body: Buffer.alloc(1200) });
    expect(answer.status).toBe(413);
    expect(answer.headers.connection).toBe('close');
    expect(seen).toBe(1001);
  });

  it('a HEAD answer has headers and no body', async () => {
    const server = await start(async () => text('hello'));
    const answer = await https(server, { method: 'HEAD', path: '/' });
    expect(answer.headers['content-length']).toBe('5');
    expect(answer.body).toBe('');
  });

  it('cleartext must be asked for', async () => {
    await expect(serve({ handler: echo, host: '127.0.0.1', port: 0 })).rejects.toThrow('must be asked for');
    const server = await serve({ handler: echo, host: '127.0.0.1', port: 0, cleartext: true });
    servers.push(server);
    const body = await new Promise<string>((resolve, reject) => {
      httpRequest(`${server.url}/plain`, { agent: false }, (response) => {
        let all = '';
        response.on('data', (chunk: Buffer) => (all += chunk.toString()));
        response.on('end', () => resolve(all));
      })
        .on('error', reject)
        .end();
    });
    expect(JSON.parse(body)).toMatchObject({ target: '/plain' });
  });

  it('API-015 a large request that comes while the last answer is under way is answered too', async () => {
    const answerBytes = 16 << 20;
    const server = await start(async (request) => {
      await request.load?.();
      const headers = { 'x-length': String(request.body?.length) };
      return { status: 200, headers, body: new Uint8Array(answerBytes).fill(0x61) };
    });
    const bytes = 400_000;
    const head = `POST / HTTP/1.1\r\nhost: here\r\ncontent-length: ${bytes}\r\n\r\n`;
    const request = Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 'b')]);
    const received = await new Promise<string>((resolve, reject) => {
      const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: certificates.caPem });
      const chunks: Buffer[] = [];
      let length = 0;
      socket.on('secureConnect', () => socket.write(request));
      socket.once('data', () => {
        // Long enough for the server to have more to send than the kernel buffers.
        socket.pause();
        setTimeout(() => socket.write(request), 100);
        setTimeout(() => socket.resume(), 200);
      });
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= 2 * answerBytes) socket.end();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    });
    expect(received.split(`x-length: ${bytes}`)).toHaveLength(3);
    expect(received.length).toBeGreaterThan(2 * answerBytes);
  });

  it('several requests share one kept-alive connection', async () => {
    const server = await start(echo);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 3; i++) {
      await new Promise<void>((resolve, reject) => {
        httpsRequest(
          { host: '127.0.0.1', port: server.port, ca: certificates.caPem, agent, path: `/${i}` },
          (response) => {
            ports.add(response.socket.localPort);
            response.on('end', resolve).resume();
          },
        )
          .on('error', reject)
          .end();
      });
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  describe.each(['http/1.1', 'h2'] as const)('streams over %s', (protocol) => {
    /** Opens a stream and returns its first chunk and a function that closes it. */
    async function open(server: HttpServer): Promise<{ first: string; leave: () => void; ended: Promise<void> }> {
      if (protocol === 'h2') {
        const session = connect(server.url, { ca: certificates.caPem });
        session.on('error', () => undefined);
        const stream = session.request({ ':path': '/watch' });
        const ended = new Promise<void>((resolve) => stream.once('close', resolve));
        stream.on('error', () => undefined);
        const first = await new Promise<string>((resolve) => stream.once('data', (c: Buffer) => resolve(c.toString())));
        stream.resume();
        return { first, ended, leave: () => (stream.close(constants.NGHTTP2_CANCEL), session.destroy()) };
      }
      return new Promise((resolve, reject) => {
        const request = httpsRequest(
          { host: '127.0.0.1', port: server.port, ca: certificates.caPem, agent: false, path: '/watch' },
          (response) => {
            const ended = new Promise<void>((done) => response.once('close', done));
            response.on('error', () => undefined);
            response.once('data', (c: Buffer) =>
              resolve({ first: c.toString(), ended, leave: () => request.destroy() }),
            );
          },
        );
        request.on('error', reject);
        request.end();
      });
    }

    function endless(onEnd: () => void): HttpHandler {
      return async (request: HttpRequest) => ({
        status: 200,
        headers: {},
        body: (async function* () {
          try {
            yield Buffer.from('first');
            await new Promise<void>((resolve) => request.signal?.addEventListener('abort', () => resolve()));
          } finally {
            onEnd();
          }
        })(),
      });
    }

    it('a client that leaves ends the handler’s stream', async () => {
      let ended: () => void = () => undefined;
      const end = new Promise<void>((resolve) => (ended = resolve));
      const server = await start(endless(ended));
      const stream = await open(server);
      expect(stream.first).toBe('first');
      stream.leave();
      await end;
    });

    it('closing the server ends its streams', async () => {
      let ended = false;
      const server = await start(endless(() => (ended = true)));
      const stream = await open(server);
      await server.close();
      await stream.ended;
      expect(ended).toBe(true);
    });

    it('a slow reader holds the stream back instead of being buffered for', async () => {
      let produced = 0;
      const chunk = Buffer.alloc(64 * 1024);
      const server = await start(async (request) => ({
        status: 200,
        headers: {},
        body: (async function* () {
          while (request.signal?.aborted !== true && produced < 2000) {
            produced++;
            yield chunk;
          }
        })(),
      }));
      const session = connect(server.url, { ca: certificates.caPem });
      session.on('error', () => undefined);
      const stream = session.request({ ':path': '/big' });
      stream.on('error', () => undefined);
      await new Promise<void>((resolve) => stream.once('response', () => resolve()));
      let before = -1;
      while (produced !== before) {
        before = produced;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(produced).toBeLessThan(2000);
      session.destroy();
    });
  });
});
