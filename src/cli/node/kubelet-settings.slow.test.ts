import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { connect } from '../../client/http/connect.ts';
import { bearerToken } from '../../client/http/connect-options.ts';
import { serverCertPem, serverKeyPem } from '../../client/http/tls.fixture.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { warnOfKubelet } from './kubelet-settings.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const TOKEN = 'of-the-service-account';

/** An API server that passes `/configz` on to a kubelet for those that may, over TLS. */
async function apiServer(status: number, kubelet: string): Promise<{ client: RestClient; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer({ key: serverKeyPem, cert: serverCertPem }, (request, response) => {
    paths.push(`${request.method} ${request.url}`);
    const known = request.headers.authorization === `Bearer ${TOKEN}`;
    response.writeHead(known ? status : 401, { 'content-type': 'application/json' });
    response.end(known ? kubelet : '{}');
  });
  await new Promise<void>((settle) => void server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  const transport = connect({
    server: `https://127.0.0.1:${port}`,
    caPem: serverCertPem,
    credentials: bearerToken(TOKEN),
    clock: systemClock,
  });
  const client = new RestClient({ transport, clock: systemClock, userAgent: 'test' });
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  return { client, paths };
}

async function said(status: number, kubelet: string): Promise<{ levels: string[]; text: string; paths: string[] }> {
  const { client, paths } = await apiServer(status, kubelet);
  const logger = new MemoryLogger();
  await warnOfKubelet({ client, nodeName: 'node-1' }, logger);
  const { lines } = logger;
  return { levels: lines.map(({ level }) => level), text: JSON.stringify(lines), paths };
}

/** Answers like a kubelet with its whole configuration, of which these are a few fields. */
const configz = (settings: object): string =>
  JSON.stringify({
    kubeletconfig: {
      enableServer: true,
      syncFrequency: '1m0s',
      imageMinimumGCAge: '2m0s',
      imageGCLowThresholdPercent: 80,
      ...settings,
    },
  });

describe('the settings of a kubelet beside node collection', () => {
  it('NODE-141 warns when the kubelet collects images too, and names the settings by which it does', async () => {
    const { levels, text, paths } = await said(
      200,
      configz({ imageGCHighThresholdPercent: 85, imageMaximumGCAge: '24h0m0s' }),
    );
    expect([levels, paths]).toEqual([['warn'], ['GET /api/v1/nodes/node-1/proxy/configz']]);
    expect(text).toContain('the kubelet collects images as well');
    expect(text).toContain('imageGCHighThresholdPercent: 85, imageMaximumGCAge: 24h0m0s');
  });

  it('NODE-141 says nothing when the kubelet leaves images alone', async () => {
    expect((await said(200, configz({ imageGCHighThresholdPercent: 100, imageMaximumGCAge: '0s' }))).levels).toEqual(
      [],
    );
  });

  it.each([
    ['the right to ask is missing', 403, '{"kind":"Status","status":"Failure","code":403}'],
    ['the kubelet cannot be reached', 503, 'dial tcp 10.0.0.1:10250: connect: connection refused'],
    ['the answer is no JSON', 200, '<html>'],
  ])('NODE-141 recommends the settings when %s', async (_, status, body) => {
    const { levels, text } = await said(status, body);
    expect(levels).toEqual(['info']);
    expect(text).toContain('set imageGCHighThresholdPercent: 100');
  });

  it('NODE-141 recommends the settings without an API server', async () => {
    const logger = new MemoryLogger();
    await warnOfKubelet(undefined, logger);
    expect(logger.lines.map(({ level }) => level)).toEqual(['info']);
  });
});
