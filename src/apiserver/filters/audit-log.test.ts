import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { configMaps, startTestServer, type TestServer } from '../test/test-server.ts';
import { AUDIT_PATH, AuditLog } from './audit-log.ts';

const byHeader: Authenticator = {
  authenticate: ({ headers }) => ({ username: String(headers['x-user'] ?? 'root'), groups: ['system:masters'] }),
};

let server: TestServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  server = await startTestServer({ clock, store: openMemoryStore({ clock }), authenticator: byHeader });
});
afterEach(() => server.server.stop());

const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Reads the lines of a stream as they come. */
function reader({ body }: HttpResponse): { next(): Promise<Record<string, unknown> | undefined> } {
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const ready: Record<string, unknown>[] = [];
  return {
    async next() {
      while (ready.length === 0) {
        const { done, value } = await chunks.next();
        if (done === true) return undefined;
        ready.push(...lines(Buffer.from(value).toString()));
      }
      return ready.shift();
    },
  };
}

describe('the audit stream', () => {
  it('API-379 reports every write: who, as whom, with what, of what, and how it was answered', async () => {
    await server.post(
      configMaps,
      { metadata: { generateName: 'm-' } },
      { 'user-agent': 'kubectl/v1', 'audit-id': 'one' },
    );
    await server.request('DELETE', `${configMaps}/nothing`, {
      headers: { 'x-user': 'ann', 'impersonate-user': 'bob', 'impersonate-group': 'dev', 'audit-id': 'two' },
    });
    await server.get(configMaps);
    await server.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    });
    const { text, headers } = await server.get(AUDIT_PATH);
    expect(headers['content-type']).toBe('application/x-ndjson');
    const time = '2026-01-02T03:04:05.000000Z';
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      stage: 'ResponseComplete',
      requestReceivedTimestamp: time,
      stageTimestamp: time,
    };
    expect(lines(text)).toEqual([
      {
        ...common,
        auditID: 'one',
        requestURI: configMaps,
        verb: 'create',
        user: { username: 'root', groups: ['system:masters'] },
        userAgent: 'kubectl/v1',
        objectRef: {
          resource: 'configmaps',
          namespace: 'default',
          name: expect.stringMatching(/^m-.{5}$/),
          apiVersion: 'v1',
        },
        responseStatus: { metadata: {}, code: 201 },
      },
      {
        ...common,
        auditID: 'two',
        requestURI: `${configMaps}/nothing`,
        verb: 'delete',
        user: { username: 'ann', groups: ['system:masters'] },
        impersonatedUser: { username: 'bob', groups: ['dev', 'system:authenticated'] },
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'nothing', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 404 },
      },
    ]);
  });

  it('API-379 goes on with what happens, until the reader leaves or the server ends', async () => {
    await server.post(configMaps, { metadata: { name: 'before' } });
    const leaving = new AbortController();
    const [one, other] = await Promise.all([
      server.send('GET', `${AUDIT_PATH}?watch=true`, { signal: leaving.signal }),
      server.send('GET', `${AUDIT_PATH}?watch=true`),
    ]);
    const [first, second] = [reader(one), reader(other)];
    const nameOf = async (from: typeof first) =>
      ((await from.next()) as { objectRef: { name: string } } | undefined)?.objectRef.name;
    expect([await nameOf(first), await nameOf(second)]).toEqual(['before', 'before']);
    const [a, b] = [nameOf(first), nameOf(second)];
    await server.post(configMaps, { metadata: { name: 'after' } });
    expect([await a, await b]).toEqual(['after', 'after']);
    const ends = [first.next(), second.next()];
    leaving.abort();
    expect(await ends[0]).toBeUndefined();
    await server.server.stop();
    expect(await ends[1]).toBeUndefined();
  });

  it('API-379 drops old records, and reports to a slow reader how many it lost', async () => {
    const log = new AuditLog();
    const { context } = await captured();
    const write = (count: number) => {
      for (let i = 0; i < count; i++) log.record(context, 200, { received: 0, answered: 0 });
    };
    write(5);
    const events = reader(log.handle(await following()));
    expect(await events.next()).toMatchObject({ kind: 'Event' });
    write(4096 + 7);
    for (let i = 1; i < 5; i++) await events.next();
    expect(await events.next()).toEqual({ kind: 'Lost', events: 7 });
    expect(await events.next()).toMatchObject({ kind: 'Event' });
    expect(lines(Buffer.from(log.handle((await captured()).context).body as Uint8Array).toString())).toHaveLength(4096);
    log.stop();
  });
});

/** The context of a real write. */
async function captured() {
  const { RequestContext } = await import('../endpoints/request/request-context.ts');
  const { parseRequestInfo } = await import('../endpoints/request/request-info.ts');
  const path = `${configMaps}/x`;
  const query = new URLSearchParams();
  const info = parseRequestInfo('DELETE', path, query);
  if (info === undefined) throw new Error(path);
  const request = { method: 'DELETE', target: path, headers: {} };
  return { context: new RequestContext({ request, path, query, info, auditId: 'x' }) };
}

async function following() {
  const { RequestContext } = await import('../endpoints/request/request-context.ts');
  const query = new URLSearchParams('watch=true');
  const request = { method: 'GET', target: AUDIT_PATH, headers: {} };
  const info = { type: 'nonResource', path: AUDIT_PATH, verb: 'get' } as const;
  return new RequestContext({ request, path: AUDIT_PATH, query, info, auditId: 'y' });
}
