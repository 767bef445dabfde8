import { connect, type ClientHttp2Session } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import { createServingCertificates, type ServingCertificates } from '../authentication/certificates.ts';
import { x509Authenticator } from '../authentication/x509-authenticator.ts';
import { systemMastersAuthorizer } from '../authorization/authorizer.ts';
import { serve, type HttpServer } from '../serving/http-server.ts';
import { configMap, configMaps, type Json, startTestServer, type TestServer } from './test-server.ts';

let certificates: ServingCertificates;
let server: TestServer;
let listener: HttpServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

beforeEach(async () => {
  server = await startTestServer({ authenticator: x509Authenticator, authorizer: systemMastersAuthorizer });
  listener = await serve({
    handler: server.server.handler,
    host: '127.0.0.1',
    port: 0,
    tls: { keyPem: certificates.keyPem, certPem: certificates.certPem, clientCaPem: certificates.caPem },
  });
  session = connect(listener.url, {
    ca: certificates.caPem,
    cert: certificates.clientCertPem,
    key: certificates.clientKeyPem,
  });
  session.on('error', () => undefined);
});

afterEach(async () => {
  session.destroy();
  await listener.close();
  await server.server.stop();
});

interface Answer {
  readonly status: number;
  readonly json: Json;
}

/** One request over the HTTP/2 session. */
function h2(method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ':method': method, ':path': path, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      { endStream: body === undefined },
    );
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on('response', (headers) => (status = Number(headers[':status'])));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve({ status, json: JSON.parse(Buffer.concat(chunks).toString() || 'null') as Json }));
    stream.on('error', reject);
    if (body !== undefined) stream.end(JSON.stringify(body));
  });
}

/** One request over HTTP/1.1. The length is given because node:http sends the body of a DELETE without one unframed. */
function h1(method: string, path: string, body?: unknown): Promise<Answer> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: listener.port,
        method,
        path,
        ca: certificates.caPem,
        cert: certificates.clientCertPem,
        key: certificates.clientKeyPem,
        agent: false,
        headers: bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            json: JSON.parse(Buffer.concat(chunks).toString() || 'null') as Json,
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(bytes);
  });
}

describe.each([
  ['HTTP/2', h2],
  ['HTTP/1.1', h1],
] as const)('over %s', (_name, call) => {
  it('API-015 an object lives and goes', async () => {
    const created = await call('POST', configMaps, configMap('a', { data: { k: 'v' } }));
    expect(created.status).toBe(201);
    expect((await call('GET', `${configMaps}/a`)).json).toEqual(created.json);
    expect((await call('PUT', `${configMaps}/a`, { ...created.json, data: { k: 'w' } })).json['data']).toEqual({
      k: 'w',
    });
    const kept = await call('DELETE', `${configMaps}/a`, { propagationPolicy: 'Orphan' });
    expect(kept.json.metadata?.finalizers).toEqual(['orphan']);
    expect((await call('DELETE', `${configMaps}/a`, { propagationPolicy: 'Background' })).json.status).toBe('Success');
    expect((await call('GET', `${configMaps}/a`)).status).toBe(404);
  });

  it('API-007 an upload above the limit is refused, the server goes on', async () => {
    const big = configMap('big', { data: { k: 'x'.repeat(3 * 1024 * 1024) } });
    expect((await call('POST', configMaps, big)).status).toBe(413);
    expect((await call('GET', configMaps)).json.items).toEqual([]);
  });

  it('API-091 a list of several megabytes arrives whole', async () => {
    const data = { k: 'x'.repeat(100_000) };
    await Promise.all(Array.from({ length: 40 }, (_, i) => call('POST', configMaps, configMap(`c${i}`, { data }))));
    expect((await call('GET', configMaps)).json.items).toHaveLength(40);
  });
});

describe('connections', () => {
  /** Opens a watch and returns its first event and a promise for the end of the stream. */
  async function watch(): Promise<{ first: Json; ended: Promise<void>; cancel: () => void }> {
    const stream = session.request({ ':path': `${configMaps}?watch=1` });
    stream.on('error', () => undefined);
    const ended = new Promise<void>((resolve) => stream.once('close', resolve));
    const line = await new Promise<string>((resolve) =>
      stream.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    );
    stream.resume();
    return { first: JSON.parse(line) as Json, ended, cancel: () => stream.close() };
  }

  it('API-120 a watch over a socket; closing the server ends it cleanly and in time', async () => {
    await h2('POST', configMaps, configMap('a'));
    const { first, ended } = await watch();
    expect(first).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    await listener.close();
    await ended;
  });

  it('a request cut in the middle of its body changes nothing', async () => {
    const body = JSON.stringify(configMap('cut'));
    await new Promise<void>((resolve, reject) => {
      const socket = tlsConnect({
        host: '127.0.0.1',
        port: listener.port,
        ca: certificates.caPem,
        cert: certificates.clientCertPem,
        key: certificates.clientKeyPem,
        ALPNProtocols: ['http/1.1'],
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        const head = `POST ${configMaps} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
        socket.write(head + body.slice(0, 20), () => {
          socket.destroy();
          resolve();
        });
      });
    });
    expect((await h2('GET', configMaps)).json.items).toEqual([]);
    expect((await h2('POST', configMaps, configMap('cut'))).status).toBe(201);
  });

  it('API-371 without a certificate it is 401', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      httpsRequest(
        { host: '127.0.0.1', port: listener.port, path: configMaps, ca: certificates.caPem, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(401);
  });
});

describe('a request to upgrade', () => {
  /** Sends the request that a browser sends for `new WebSocket(…)`, and returns the whole answer. */
  function upgrade(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = tlsConnect({
        host: '127.0.0.1',
        port: listener.port,
        ca: certificates.caPem,
        cert: certificates.clientCertPem,
        key: certificates.clientKeyPem,
        ALPNProtocols: ['http/1.1'],
      });
      let answer = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        answer += text;
        if (answer.includes('\r\n\r\n') && answer.includes('}')) socket.destroy();
      });
      socket.on('error', reject).on('close', () => resolve(answer));
      socket.write(
        [
          `GET ${path} HTTP/1.1`,
          'Host: 127.0.0.1',
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Protocol: base64.binary.k8s.io',
          '\r\n',
        ].join('\r\n'),
      );
    });
  }

  it('API-138 not built, refused: WebSocket for a watch is a 400 that says to ask without Upgrade, before anything streams', async () => {
    const answer = await upgrade(`${configMaps}?watch=1`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"reason":"BadRequest"');
    expect(answer).toContain('watches over WebSocket are not served here: send the request without Upgrade');
  });

  it('API-138 of anything else is answered as if it had not been asked for', async () => {
    await h2('POST', configMaps, configMap('a'));
    expect(await upgrade(`${configMaps}/a`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('API-138 an HTTP/2 watch has no such header and streams', async () => {
    const stream = session.request({ ':path': `${configMaps}?watch=1` });
    const status = await new Promise((resolve) => stream.on('response', (headers) => resolve(headers[':status'])));
    expect(status).toBe(200);
    stream.close();
  });
});
