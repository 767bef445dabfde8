import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import { customResource } from '../../src/apiserver/test/custom-resource.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { RepeatedDiscovery } from '../../src/client/discovery/discovery.ts';
import { http1Transport } from '../../src/client/http/http1-transport.ts';
import { http2Transport } from '../../src/client/http/http2-transport.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import type { Transport } from '../../src/client/http/transport.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';

let certificates: ServingCertificates;
let server: TestServer;
let listener: HttpServer;

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
  server = await startTestServer({});
  const tls = { keyPem: certificates.keyPem, certPem: certificates.certPem };
  listener = await serve({ handler: server.server.handler, host: '127.0.0.1', port: 0, clock: systemClock, tls });
});
afterAll(async () => {
  await listener.close();
  await server.server.stop();
});

const transports: Record<string, () => Transport> = {
  'HTTP/1.1': () => http1Transport({ server: listener.url, caPem: certificates.caPem }),
  'HTTP/2': () => http2Transport({ server: listener.url, caPem: certificates.caPem, clock: systemClock }),
  'the process': () => inProcessTransport(server.server.handler),
};

it.each(Object.keys(transports))(
  'API-396 an unchanged discovery is read by 304 over %s, a changed one anew',
  async (way) => {
    const answers: { status: number; size: number; etag: unknown; vary: unknown }[] = [];
    const transport = transports[way]!();
    const client = new RestClient({
      transport,
      clock: systemClock,
      userAgent: 'test',
      interceptors: [
        async (request, next) => {
          const { status, headers, body } = await next(request);
          let bytes: Uint8Array = new Uint8Array();
          if (body instanceof Uint8Array) bytes = body;
          else for await (const chunk of body) bytes = Buffer.concat([bytes, chunk]);
          answers.push({ status, size: bytes.length, etag: headers['etag'], vary: headers['vary'] });
          return { status, headers, body: bytes };
        },
      ],
    });
    const discovery = new RepeatedDiscovery(client);
    const first = await discovery.read();
    expect(first.resources.length).toBeGreaterThan(50);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { etag, vary } of answers) {
      expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
      expect(vary).toContain('Accept');
    }
    expect(await discovery.read()).toBe(first);
    expect(answers.slice(2).map(({ status, size }) => [status, size])).toEqual([
      [304, 0],
      [304, 0],
    ]);
    const { resources } = server.server;
    const { info, strategy } = customResource({
      group: 'example.com',
      version: 'v1',
      resource: 'widgets',
      kind: 'Widget',
      namespaced: true,
    });
    resources.add({ info, strategy });
    const second = await discovery.read();
    resources.remove(info.group, info.version, info.resource);
    expect(
      answers
        .slice(4)
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual([200, 304]);
    expect(second.resources.length).toBe(first.resources.length + 1);
    await transport.close();
  },
);
