import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { noMetrics } from '../../src/base/metrics/metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { MAX_BODY_VALUES, MAX_OBJECT_MEMBERS } from '../../src/api/codec/json/body-values.ts';
import {
  type Answer,
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from '../../src/apiserver/test/test-server.ts';
import {
  type HostileRequest,
  longWork,
  refused,
  tooManyElements,
  tooManyMembers,
  tooManyValues,
} from './hostile-requests.ts';

/** Turns of the event loop that a long write takes: each of its steps is one. */
const LEAST_TURNS = 8;

/** Counts turns of the event loop instead of time: whoever asks in a turn between two steps is answered first. */
describe('API-007 a request that is made to keep the server busy', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });

  const send = async ({ method, path, type, body, before }: HostileRequest): Promise<Answer> => {
    if (before !== undefined) expect((await server.post(before.path, before.object)).status).toBe(201);
    return server.request(method, path, { body, headers: { 'content-type': type } });
  };

  /** Sends a request of somebody else in each turn, and returns the number of those that were answered. */
  const answeredUntil = async (progress: { readonly done: boolean }): Promise<number> => {
    let answered = 0;
    while (!progress.done) {
      expect((await server.get('/livez')).status).toBe(200);
      answered++;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    return answered;
  };

  it.each([
    ...tooManyValues.map((each) => [...each, `${MAX_BODY_VALUES} values`] as const),
    ...tooManyMembers.map((each) => [...each, `${MAX_OBJECT_MEMBERS} members in one object`] as const),
    ...tooManyElements.map(
      (each) => [...each, `${MAX_OBJECT_MEMBERS} elements in one list of type set or map`] as const,
    ),
  ])('%s: is refused for their number, and the answer says how many are taken', async (_what, request, limit) => {
    const { status, json } = await send(request);
    expect([status, json.message]).toEqual([413, `Request entity too large: limit is ${limit}`]);
  });

  it.each(refused)('%s: is refused', async (_what, request, code, words) => {
    const { status, json } = await send(request);
    expect(status).toBe(code);
    expect(json.message).toMatch(words);
  });

  it.each(longWork)('%s: others are answered before it is, and while it is checked', async (_what, request) => {
    const { before, ...hostile } = request;
    if (before !== undefined) await server.post(before.path, before.object);
    const progress = { done: false };
    const long = send(hostile).then(({ status }) => {
      progress.done = true;
      return status;
    });
    await new Promise((resolve) => void setImmediate(resolve));
    const answered = await answeredUntil(progress);
    expect([200, 201]).toContain(await long);
    expect(answered).toBeGreaterThanOrEqual(LEAST_TURNS);
  });

  it.each([
    ['that match no key', (at: number) => `!k${at}`, 20_000],
    ['of unequal values', (at: number) => `k${at}!=v`, 12_000],
  ])('API-101 a selector of very many terms %s: others are answered in between', async (_what, term, count) => {
    for (let at = 0; at < 100; at++) await server.post(configMaps, configMap(`c${at}`));
    const selector = encodeURIComponent(Array.from({ length: count }, (_, at) => term(at)).join(','));
    const progress = { done: false };
    const list = server.get(`${configMaps}?labelSelector=${selector}`).finally(() => (progress.done = true));
    const answered = await answeredUntil(progress);
    expect((await list).json.items).toHaveLength(100);
    // Each turn compares the terms with a few objects only.
    expect(answered).toBeGreaterThanOrEqual(20);
  });

  it('COL-090 thousands of owners that are not there are read by the collector a few in each turn', async () => {
    const sent: string[] = [];
    const transport = inProcessTransport((request) => {
      sent.push(`${request.method} ${request.target}`);
      return server.server.handler(request);
    });
    const client = new RestClient({ transport, clock: systemClock, userAgent: 'kubegc/test' });
    const stop = new AbortController();
    const collector = new GarbageCollector({
      client,
      clock: systemClock,
      random: seededRandom(1),
      logger: silentLogger,
      metrics: noMetrics,
    });
    const running = collector.run(stop.signal);
    await expect.poll(() => collector.atRest, { timeout: 10_000 }).toBe(true);
    sent.length = 0;
    const ownerReferences = Array.from({ length: 3000 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: `p${at}`,
      uid: `u${at}`,
    }));
    const object = configMap('owned', { metadata: { name: 'owned', ownerReferences } });
    expect((await server.post(configMaps, object)).status).toBe(201);
    let most = 0;
    while ((await server.get(`${configMaps}/owned`)).status !== 404) {
      const before = sent.length;
      await new Promise((resolve) => void setImmediate(resolve));
      most = Math.max(most, sent.length - before);
    }
    expect(sent.length).toBeGreaterThan(ownerReferences.length);
    expect(most).toBeLessThanOrEqual(150);
    stop.abort();
    await running;
  }, 60_000);

  it('15,000 owners are more than an object may have, with words', async () => {
    const ownerReferences = Array.from({ length: 15_000 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: `p${at}`,
      uid: `u${at}`,
    }));
    const { status, json } = await server.post(
      configMaps,
      configMap('a', { metadata: { name: 'a', ownerReferences } }),
    );
    expect([status, json.message]).toEqual([413, expect.stringMatching(/^Request entity too large: limit is \d+ /)]);
  });
});
