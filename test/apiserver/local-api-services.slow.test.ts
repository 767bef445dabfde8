import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinResources } from '../../src/api/kinds/builtin-resources.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../src/apiserver/storage/interface.ts';
import { definition, definitions, establish, version } from '../apiextensions/definition-fixture.ts';
import { until } from '../program/until.ts';

const PATH = '/apis/apiregistration.k8s.io/v1/apiservices';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

let store: Store;
let server: TestServer;
beforeEach(async () => {
  store = openMemoryStore({ clock: systemClock });
  server = await startTestServer({ store, localApiServices: 'listed' });
});
afterEach(async () => {
  await server.server.stop();
});

async function names(): Promise<string[]> {
  return (await server.get(PATH)).json.items.map(({ metadata }) => metadata?.name ?? '');
}

const exists = async (name: string): Promise<boolean> => (await names()).includes(name);

describe('APIServices of the group versions that this server serves itself', () => {
  it('API-606 are there from the start, each Local and available, for all but the group that holds them', async () => {
    const builtin = new Set(builtinResources().map(({ group, version: served }) => `${served}.${group}`));
    builtin.delete('v1.apiregistration.k8s.io');
    expect(await names()).toEqual([...builtin].toSorted());
    const { rows } = (await server.get(PATH, { accept: TABLE })).json;
    const cells = rows.map((row) => (row as unknown as { cells: string[] }).cells.slice(0, 3));
    expect(cells).toEqual([...builtin].toSorted().map((name) => [name, 'Local', 'True']));
  });

  it('API-606 come and go with definitions, one for each served version', async () => {
    const versions = [
      version(),
      version({ name: 'v2', storage: false }),
      version({ name: 'v3', storage: false, served: false }),
    ];
    await establish(server, definition({ versions }));
    await establish(
      server,
      definition({ names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' } }),
    );
    await until('both are listed', async () => (await exists('v1.example.com')) && (await exists('v2.example.com')));
    expect(await exists('v3.example.com')).toBe(false);
    const { json } = await server.get(`${PATH}/v2.example.com`);
    expect(json.metadata?.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'true' });
    await server.delete(`${definitions}/widgets.example.com`);
    await until('the version that one definition had is gone', async () => !(await exists('v2.example.com')));
    expect(await exists('v1.example.com')).toBe(true);
    await server.delete(`${definitions}/gears.example.com`);
    await until('the group is gone', async () => !(await exists('v1.example.com')));
  });

  it('API-606 are restored after a deletion, with another uid', async () => {
    const { uid } = (await server.get(`${PATH}/v1.apps`)).json.metadata!;
    await establish(server, definition());
    await until('the definition has one', async () => await exists('v1.example.com'));
    await server.delete(PATH);
    await until('all are back', async () => (await exists('v1.apps')) && (await exists('v1.example.com')));
    expect((await server.get(`${PATH}/v1.apps`)).json.metadata!.uid).not.toBe(uid);
    expect((await server.get('/apis/apps/v1/deployments')).status).toBe(200);
  });

  it('API-606 survive a restart with those of definitions, and are not written again', async () => {
    await establish(server, definition());
    await until('the definition has one', async () => await exists('v1.example.com'));
    const before = (await server.get(PATH)).json.items;
    await server.server.stop();
    server = await startTestServer({ store, localApiServices: 'listed' });
    expect((await server.get(PATH)).json.items).toEqual(before);
  });

  it('API-606 are the same for two servers on one store, which both keep them', async () => {
    const other = await startTestServer({ store, localApiServices: 'listed' });
    try {
      const before = (await server.get(PATH)).json.items;
      expect((await other.get(PATH)).json.items).toEqual(before);
      await establish(server, definition());
      await until('the definition has one', async () => await exists('v1.example.com'));
      await server.delete(`${PATH}/v1.apps`);
      await until('one of the servers restores it', async () => await exists('v1.apps'));
      await server.delete(`${definitions}/widgets.example.com`);
      await until('it is gone', async () => !(await exists('v1.example.com')));
      await until('both agree', async () => {
        const [ours, theirs] = [await server.get(PATH), await other.get(PATH)];
        return ours.json.items.length === before.length && theirs.json.items.length === before.length;
      });
    } finally {
      await other.server.stop();
    }
  });

  it('API-606 leave an APIService that names a Service to its user', async () => {
    const spec = {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: 'kube-system', name: 'metrics-server' },
      insecureSkipTLSVerify: true,
    };
    const metrics = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec,
    };
    expect((await server.post(PATH, metrics)).status).toBe(201);
    const reported = async () => (await server.get(`${PATH}/v1beta1.metrics.k8s.io`)).json;
    await until('it is reported', async () => (await reported())['status'] !== undefined);
    expect((await reported())['status']).toMatchObject({
      conditions: [{ status: 'False', reason: 'ProxyNotSupported' }],
    });
    expect((await reported())['spec']).toMatchObject(spec);
  });

  it('API-606 report one that names a Service when this server does not serve the group version any longer', async () => {
    const without = await startTestServer({});
    await establish(without, definition());
    const service = { namespace: 'default', name: 'widgets' };
    const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service };
    const apiService = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', spec };
    const metadata = { name: 'v1.example.com' };
    const posted = await without.post(PATH, { ...apiService, metadata });
    expect([posted.status, posted.json['status']]).toEqual([201, {}]);
    await without.delete(`${definitions}/widgets.example.com`);
    const reported = async () => (await without.get(`${PATH}/v1.example.com`)).json['status'];
    await expect.poll(reported).toMatchObject({ conditions: [{ status: 'False', reason: 'ProxyNotSupported' }] });
    await without.server.stop();
  });

  it('API-606 are omitted unless asked for', async () => {
    const without = await startTestServer({});
    expect((await without.get(PATH)).json.items).toEqual([]);
    await without.server.stop();
  });
});
