import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { CommandError } from '../process/command-error.ts';
import { isLoopback, type ObservationOptions, ObservationServer } from './observation-server.ts';

let server: ObservationServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const options: ObservationOptions = {
  listen: { host: '127.0.0.1', port: 0 },
  token: undefined,
  notReadyBecause: () => undefined,
  metrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
  debug: {
    prefixes: ['/debug/graph-of'],
    pages: [{ method: 'GET', path: '/debug/graph-of/all', shows: 'the graph' }],
    handler: ({ method, target }) =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: Buffer.from(method === 'GET' ? `graph ${target}` : `${method} ${target}`),
      }),
  },
};

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function ask(
  path: string,
  { method = 'GET', headers = {} }: Asked = {},
): Promise<{ status: number; body: string; allow?: string }> {
  const { hostname, port } = new URL(server?.url ?? '');
  return new Promise((resolve, reject) => {
    request({ host: hostname, port, path, method, headers, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => {
        const { allow } = answer.headers;
        resolve({ status: answer.statusCode ?? 0, body, ...(allow !== undefined && { allow }) });
      });
    })
      .on('error', reject)
      .end();
  });
}

describe('ObservationServer', () => {
  it('lists its pages at /, and says so elsewhere', async () => {
    server = await ObservationServer.start(options);
    const { status, body } = await ask('/');
    expect(status).toBe(200);
    expect(
      body
        .split('\n')
        .filter((line) => line.startsWith('GET '))
        .map((line) => line.split(' ')[1]),
    ).toEqual(['/healthz', '/readyz', '/metrics', '/debug/graph-of/all']);
    expect(await ask('/nowhere')).toMatchObject({ status: 404, body: expect.stringContaining('/ lists the pages') });
  });

  it('serves health, readiness, metrics and debug pages, and nothing else', async () => {
    let reason: string | undefined = 'the first lists are not complete';
    server = await ObservationServer.start({ ...options, notReadyBecause: () => reason });
    expect(await ask('/healthz')).toEqual({ status: 200, body: 'ok' });
    expect(await ask('/readyz')).toEqual({ status: 503, body: 'not ready: the first lists are not complete' });
    reason = undefined;
    expect(await ask('/readyz?verbose')).toEqual({ status: 200, body: 'ok' });
    expect(await ask('/metrics')).toEqual({ status: 200, body: 'up 1\n' });
    expect(await ask('/debug/graph-of/graph?uid=1')).toEqual({
      status: 200,
      body: 'graph /debug/graph-of/graph?uid=1',
    });
    expect((await ask('/debug/graph-office')).status).toBe(404);
    expect(await ask('/metrics', { method: 'POST' })).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    expect(await ask('/metrics', { method: 'HEAD' })).toEqual({ status: 200, body: '' });
  });

  it('hands POST on to debug pages, for who may see them, and not for web pages', async () => {
    server = await ObservationServer.start({ ...options, token: 'secret' });
    const method = 'POST';
    const headers = { authorization: 'Bearer secret' };
    expect((await ask('/debug/graph-of/rescan', { method })).status).toBe(401);
    expect(await ask('/debug/graph-of/rescan', { method, headers })).toEqual({
      status: 200,
      body: 'POST /debug/graph-of/rescan',
    });
    const fromPage = { ...headers, origin: 'https://example.com' };
    expect((await ask('/debug/graph-of/rescan', { method, headers: fromPage })).status).toBe(403);
    for (const path of ['/metrics', '/healthz', '/debug/graph-office/rescan']) {
      expect((await ask(path, { method, headers })).status).toBe(405);
    }
    expect(await ask('/debug/graph-of/rescan', { method: 'DELETE', headers })).toMatchObject({
      status: 405,
      allow: 'GET, HEAD, POST',
    });
  });

  it('without a token answers only who asks for a loopback address: no web page can read it through a browser', async () => {
    server = await ObservationServer.start(options);
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '10.0.0.1']) {
      expect((await ask('/metrics', { headers: { host } })).status).toBe(421);
    }
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:10257', '[::1]:10257']) {
      expect((await ask('/metrics', { headers: { host } })).status).toBe(200);
    }
  });

  it('COL-18A with a token shows metrics and graph only to those who have it; probes need none', async () => {
    server = await ObservationServer.start({ ...options, listen: { host: '0.0.0.0', port: 0 }, token: 'secret' });
    for (const path of ['/metrics', '/debug/graph-of/graph']) {
      expect((await ask(path)).status).toBe(401);
      for (const authorization of [
        'Bearer wrong',
        'Bearer secret2',
        'Bearersecret',
        'Bearer SECRET',
        'secret',
        'Basic secret',
      ]) {
        expect((await ask(path, { headers: { authorization } })).status).toBe(401);
      }
      for (const authorization of ['Bearer secret', 'bearer secret', 'BEARER  secret']) {
        expect((await ask(path, { headers: { authorization } })).status).toBe(200);
      }
    }
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
  });

  it('refuses an address that others reach when there is no token, and a port that is taken', async () => {
    for (const host of ['0.0.0.0', '::', '10.1.2.3', 'collector.example']) {
      await expect(ObservationServer.start({ ...options, listen: { host, port: 0 } })).rejects.toThrow(CommandError);
    }
    server = await ObservationServer.start(options);
    const port = Number(new URL(server.url).port);
    await expect(ObservationServer.start({ ...options, listen: { host: '127.0.0.1', port } })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the address is already in use`,
    );
  });

  it('answers 500 for a page that fails', async () => {
    server = await ObservationServer.start({ ...options, metrics: () => Promise.reject(new Error('broken')) });
    expect(await ask('/metrics')).toEqual({ status: 500, body: 'broken' });
  });
});

it.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['127.evil.example', false],
  ['0.0.0.0', false],
  ['::', false],
  ['128.0.0.1', false],
  ['', false],
])('isLoopback(%s) is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
