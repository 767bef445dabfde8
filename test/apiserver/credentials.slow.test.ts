import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { unionAuthenticator } from '../../src/apiserver/authentication/authenticator.ts';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import { signingKeyOf } from '../../src/apiserver/authentication/json-web-signature.ts';
import { ServiceAccountTokens } from '../../src/apiserver/authentication/service-account-tokens.ts';
import { tokenAuthenticator } from '../../src/apiserver/authentication/token-authenticator.ts';
import { x509Authenticator } from '../../src/apiserver/authentication/x509-authenticator.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { seededRandom, systemRandom } from '../../src/base/random/random.ts';
import { RealTurnsClock } from './real-turns-clock.ts';

/** One connection: the status of one request after the other over it. */
interface Connection {
  get(path: string, token?: string): Promise<number>;
  close(): void;
}

const issuer = 'https://kubernetes.default.svc';
const core = '/api/v1/namespaces/default';
const DAY_MS = 24 * 60 * 60_000;

let certificates: ServingCertificates;
beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});

let clock: RealTurnsClock;
let server: TestServer;
let listening: HttpServer;
beforeEach(async () => {
  clock = new RealTurnsClock(Date.now());
  const store = openMemoryStore({ clock });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = signingKeyOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const random = seededRandom(7);
  const tokens = new ServiceAccountTokens({ store, clock, random, key, issuer, audiences: [issuer] });
  const authenticator = unionAuthenticator([x509Authenticator, tokenAuthenticator(tokens)]);
  server = await startTestServer({ store, clock, authenticator, tokens, serviceAccountTokens: tokens });
  const { keyPem, certPem, caPem: clientCaPem } = certificates;
  const tls = { keyPem, certPem, clientCaPem };
  listening = await serve({ handler: server.server.handler, host: '127.0.0.1', port: 0, tls, clock });
});
afterEach(async () => {
  await listening.close();
  await server.server.stop();
});

/** The administrator, within the process. */
const peer = { commonName: 'root', organizations: ['system:masters'] };
async function asRoot(method: string, target: string, object?: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const body = object === undefined ? {} : { body: Buffer.from(JSON.stringify(object)) };
  const { status, body: answer } = await server.server.handler({ method, target, headers, peer, ...body });
  expect(status).toBeLessThan(300);
  return JSON.parse(Buffer.from(answer as Uint8Array).toString()) as Record<string, unknown>;
}

async function tokenOf(spec: object = {}): Promise<string> {
  const { status } = await asRoot('POST', `${core}/serviceaccounts/robot/token`, { spec });
  return (status as { token: string }).token;
}

interface Credentials {
  readonly cert?: string;
  readonly key?: string;
}

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

function http1(credentials: Credentials): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: certificates.caPem, ...credentials });
  const ports = new Set<number | undefined>();
  return {
    get: (path, token) =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: listening.port, agent, path, headers: bearer(token) };
        httpsRequest(options, (response) => {
          ports.add(response.socket.localPort);
          response.on('end', () => resolve(response.statusCode ?? 0)).resume();
        })
          .on('error', reject)
          .end();
      }),
    close: () => {
      agent.destroy();
      expect(ports.size, 'one connection').toBe(1);
    },
  };
}

function http2(credentials: Credentials): Connection {
  const session = connect(listening.url, { ca: certificates.caPem, ...credentials });
  return {
    get: (path, token) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': path, ...bearer(token) });
        let status = 0;
        stream.on('response', (headers) => (status = headers[':status'] ?? 0));
        stream.on('end', () => resolve(status)).resume();
        stream.on('error', reject);
      }),
    close: () => {
      expect(session.closed, 'one connection').toBe(false);
      session.close();
    },
  };
}

describe.each([
  { protocol: 'HTTP/1.1', open: http1 },
  { protocol: 'HTTP/2', open: http2 },
])('API-371 credentials that end while their connection stands, over $protocol', ({ open }) => {
  it('a client certificate is refused from the moment when it expires', async () => {
    const connection = open({ cert: certificates.clientCertPem, key: certificates.clientKeyPem });
    expect(await connection.get(`${core}/configmaps`)).toBe(200);
    clock.advance(364 * DAY_MS);
    expect(await connection.get(`${core}/configmaps`)).toBe(200);
    clock.advance(2 * DAY_MS);
    expect(await connection.get(`${core}/configmaps`)).toBe(401);
    connection.close();
  });

  it.each([
    {
      what: 'its ServiceAccount is deleted',
      bound: undefined,
      end: () => asRoot('DELETE', `${core}/serviceaccounts/robot`),
    },
    {
      what: 'its Secret is deleted',
      bound: { kind: 'Secret', apiVersion: 'v1', name: 'bound' },
      end: () => asRoot('DELETE', `${core}/secrets/bound`),
    },
    {
      what: 'its Secret is another one',
      bound: { kind: 'Secret', apiVersion: 'v1', name: 'bound' },
      end: async () => {
        await asRoot('DELETE', `${core}/secrets/bound`);
        await asRoot('POST', `${core}/secrets`, { metadata: { name: 'bound' } });
      },
    },
    // A minute more, as kube-apiserver allows clocks to differ.
    { what: 'its time is over', bound: undefined, end: async () => clock.advance(3661_000) },
  ])('a token is refused at the next request when $what', async ({ bound, end }) => {
    await asRoot('POST', `${core}/serviceaccounts`, { metadata: { name: 'robot' } });
    await asRoot('POST', `${core}/secrets`, { metadata: { name: 'bound' } });
    const token = await tokenOf(bound === undefined ? {} : { boundObjectRef: bound });
    const connection = open({});
    expect(await connection.get(`${core}/configmaps`, token)).toBe(200);
    expect(await connection.get(`${core}/configmaps`, token)).toBe(200);
    await end();
    expect(await connection.get(`${core}/configmaps`, token)).toBe(401);
    connection.close();
  });
});
