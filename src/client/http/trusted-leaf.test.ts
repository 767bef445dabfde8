import { createServer, type Server } from 'node:https';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { ConnectOptions } from './connect-options.ts';
import { http1Transport } from './http1-transport.ts';
import { http2Transport } from './http2-transport.ts';
import { clientCertPem, serverCertPem, serverKeyPem } from './tls.fixture.ts';
import type { Transport } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const tls = { key: serverKeyPem, cert: serverCertPem };
const protocols: Record<string, { server: () => Server; connect: (options: ConnectOptions) => Transport }> = {
  'HTTP/1.1': { server: () => createServer(tls, (_, response) => response.end('ok')), connect: http1Transport },
  'HTTP/2': {
    server: () => createSecureServer(tls, (_, response) => response.end('ok')) as unknown as Server,
    connect: (options) => http2Transport({ ...options, clock: new FakeClock() }),
  },
};

describe.each(Object.entries(protocols))(
  'over %s a certificate-authority that holds the server certificate',
  (_, it_) => {
    const statusWith = async (options: Omit<ConnectOptions, 'server'>): Promise<number> => {
      const server = it_.server();
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const transport = it_.connect({ server: `https://127.0.0.1:${port}`, ...options });
      cleanups.push(
        () => server.close(),
        () => transport.close(),
      );
      return (await transport.send({ method: 'GET', target: '/', headers: {} })).status;
    };

    it('is trusted without the authority that signed it, as by Go', async () => {
      expect(await statusWith({ caPem: serverCertPem })).toBe(200);
    });

    it('is trusted beside other certificates', async () => {
      expect(await statusWith({ caPem: `${clientCertPem}${serverCertPem}` })).toBe(200);
    });

    it('does not make another host name good', async () => {
      await expect(statusWith({ caPem: serverCertPem, tlsServerName: 'elsewhere.test' })).rejects.toThrow(/altnames/);
    });

    it('makes no certificate of the same authority good', async () => {
      await expect(statusWith({ caPem: clientCertPem })).rejects.toThrow(/certificate/);
    });
  },
);
