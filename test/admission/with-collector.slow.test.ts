import { afterAll, describe, expect, it } from 'vitest';
import { configMap, configMaps, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { noMetrics } from '../../src/base/metrics/metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { answer, configuration, mutating, validating, type WebhookServer, webhookTest } from './webhook-server.ts';

/** The real collector, the real server and a real webhook: what the collector deletes is asked about as everything else. */
describe('webhooks and the collector', () => {
  let hook: WebhookServer;
  let server: TestServer;
  const stop = new AbortController();
  let running: Promise<void>;

  webhookTest([validating, mutating], (test) => {
    ({ hook, server } = test);
    const client = new RestClient({
      transport: inProcessTransport(server.server.handler),
      clock: systemClock,
      userAgent: 'kubegc/test',
    });
    const random = seededRandom(1);
    const collector = { client, clock: systemClock, random, logger: silentLogger, metrics: noMetrics };
    running = new GarbageCollector(collector).run(stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await running;
  });

  async function family(): Promise<void> {
    const { json } = await server.post(configMaps, configMap('owner'));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: json.metadata?.uid ?? '' }];
    await server.post(configMaps, configMap('dependent', { metadata: { name: 'dependent', ownerReferences } }));
  }

  const names = async (): Promise<string[]> =>
    (await server.get(configMaps)).json.items.map(({ metadata }) => metadata?.name ?? '');

  it('API-350 its deletions go through them; one that is refused is tried again and succeeds when it may', async () => {
    await family();
    await server.post(validating, configuration('Validating', 'test', { clientConfig: hook.at() }));
    let refusals = 0;
    hook.behaviour = (review) => {
      const refused = review.request.name === 'dependent' && review.request.operation === 'DELETE' && refusals++ < 3;
      return answer(review, refused ? { allowed: false, status: { message: 'not yet' } } : { allowed: true });
    };
    expect((await server.delete(`${configMaps}/owner`, { propagationPolicy: 'Background' })).status).toBe(200);
    await expect.poll(names).toEqual([]);
    expect(refusals).toBeGreaterThanOrEqual(4);
    const deletion = hook.requests.find(({ name }) => name === 'dependent');
    expect(deletion).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { metadata: { name: 'dependent' } },
      options: { kind: 'DeleteOptions', preconditions: { uid: expect.any(String) } },
    });
  });

  it('COL-101 API-351 a webhook that adds a label to every update does not keep a foreground deletion from finishing', async () => {
    await family();
    await server.post(mutating, configuration('Mutating', 'test', { clientConfig: hook.at() }));
    hook.behaviour = (review) => {
      const { object } = review.request;
      if (object === null) return answer(review, { allowed: true });
      const value = { ...object.metadata?.labels, touched: 'yes' };
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels', value }])).toString('base64');
      return answer(review, { allowed: true, patchType: 'JSONPatch', patch });
    };
    expect((await server.delete(`${configMaps}/owner`, { propagationPolicy: 'Foreground' })).status).toBe(200);
    await expect.poll(names).toEqual([]);
    expect(hook.requests.map(({ operation }) => operation)).toContain('UPDATE');
  });
});
