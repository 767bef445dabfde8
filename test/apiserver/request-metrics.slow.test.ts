import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { PrometheusMetrics } from '../../src/cli/metrics/prometheus.ts';
import { definition, definitions, establish, version } from '../apiextensions/definition-fixture.ts';
import { until } from '../program/until.ts';

let metrics: PrometheusMetrics;
let server: TestServer;
beforeEach(async () => {
  metrics = new PrometheusMetrics();
  server = await startTestServer({ metrics });
});
afterEach(() => server.server.stop());

/** Lines of the metrics page, without their values. */
async function series(): Promise<string[]> {
  const { text } = await metrics.expose();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' '))).toSorted();
}

const comeAndGo = async (n: number): Promise<void> => {
  const group = `group-${n}.example.com`;
  const names = { plural: `plurals${n}`, singular: `kind${n}`, kind: `Kind${n}`, listKind: `Kind${n}List` };
  const versions = [version({ extra: { subresources: { status: {} } } })];
  await establish(server, definition({ group, names, versions }));
  const path = `/apis/${group}/v1/namespaces/default/plurals${n}`;
  await server.post(path, { apiVersion: `${group}/v1`, kind: names.kind, metadata: { name: 'a' } });
  await server.get(`${path}/a`);
  await server.get(`/apis/${group}/v1/plurals${n}`);
  await server.patch(`${path}/a/status`, { status: { a: 1 } });
  await server.delete(`${path}/a?dryRun=All`);
  await server.delete(`${path}/a`);
  await server.get(`${path}/a`);
  const watch = await server.watch(`${path}?watch=1`);
  await server.delete(`${definitions}/plurals${n}.${group}`);
  await until('the definition is gone', async () =>
    (await server.get(`${definitions}/plurals${n}.${group}`)).status === 404 ? true : undefined,
  );
  watch.close();
  // It may not be served any more by now.
  await server.get(`${path}/a`);
  await server.get(definitions);
};

describe('request metrics', () => {
  it('API-017 hundreds of definitions that come and go leave the series that the first one left', async () => {
    await comeAndGo(0);
    const first = await series();
    for (let n = 1; n < 200; n++) await comeAndGo(n);
    expect(await series()).toEqual(first);
    expect(first.filter((line) => line.includes('example.com'))).toEqual([]);
  });

  it('API-017 a version that is not served any more takes its series along, and the others keep theirs', async () => {
    const versions = [version({ name: 'v1' }), version({ name: 'v2', storage: false })];
    const made = await establish(server, definition({ versions }));
    for (const each of ['v1', 'v2']) await server.get(`/apis/example.com/${each}/widgets`);
    const ofVersions = async () =>
      ['v1', 'v2'].filter((each) => text.includes(`group="example.com",version="${each}",resource="widgets"`));
    let { text } = await metrics.expose();
    expect(await ofVersions()).toEqual(['v1', 'v2']);
    const next = [version({ name: 'v1' }), version({ name: 'v2', storage: false, served: false })];
    await server.patch(`${definitions}/${made.metadata?.name ?? ''}`, { spec: { versions: next } });
    expect((await server.get('/apis/example.com/v2/widgets')).status).toBe(404);
    ({ text } = await metrics.expose());
    expect(await ofVersions()).toEqual(['v1']);
  });

  it('API-017 a request that ends after its resource went names none', async () => {
    await establish(server, definition());
    const watch = await server.watch('/apis/example.com/v1/widgets?watch=1');
    const slow = server.post('/apis/example.com/v1/namespaces/default/widgets', {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
    });
    server.server.resources.remove('example.com', 'v1', 'widgets');
    await slow;
    watch.close();
    expect((await series()).filter((line) => line.includes('widgets'))).toEqual([]);
  });

  it('API-017 no request makes a label of its own words', async () => {
    const words = (i: number): readonly (readonly [string, string])[] => [
      ['GET', `/apis/x${i}/v1/anything${i}`],
      ['GET', `/apis/apps/v1/anything${i}`],
      ['GET', `/apis/apps/v${i}beta1/deployments`],
      ['GET', `/apis/apps/v1/namespaces/n${i}/deployments/d${i}/anything${i}`],
      ['GET', `/apis/apps/v1/deployments/d${i}`],
      ['PUT', `/api/v1/namespaces/n${i}/anything${i}`],
      ['GET', `/api/v1/watch/anything${i}/x`],
      ['GET', `/api/v1/nodes/n${i}/proxy/anything${i}`],
      ['GET', `/api/v1/nodes/n${i}/anything${i}/proxy`],
      ['GET', `/anything${i}`],
      ['GET', `/apis/anything${i}`],
      [`ANYTHING${i}`, '/version'],
      [`ANYTHING${i}`, '/api/v1/nodes'],
      [`ANYTHING${i}`, `/api/v1/namespaces/n${i}/pods/p/anything${i}`],
      ['GET', `/api/v1/nodes?dryRun=${i}`],
    ];
    const ask = async (i: number): Promise<void> => {
      for (const [method, path] of words(i)) await server.request(method, path);
    };
    await ask(0);
    const first = await series();
    for (let i = 1; i < 50; i++) await ask(i);
    expect(await series()).toEqual(first);
    expect(first.filter((line) => /anything/i.test(line))).toEqual([]);
  });
});
