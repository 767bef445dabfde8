import { describe, expect, it } from 'vitest';
import { type KubeObject, startCluster, type WatchEvent } from '../../src/testing/testing.ts';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
};
const configMap = (name: string, labels?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data: { level: 'info' },
});
const start = () => startCluster({ controllers: [] });
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata?.name).toSorted();

describe('the client of a cluster', () => {
  it('writes the status by patchStatus, and a part of the object by its subresource', async () => {
    await using cluster = await start();
    const created = await cluster.client.create(deployment);
    const patched = await cluster.client.patchStatus(created, { status: { replicas: 3, observedGeneration: 1 } });
    expect(patched).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 3 } });
    await cluster.client.patch(created, { status: { replicas: 4 } }, undefined, { subresource: 'status' });
    await cluster.client.patch(created, { spec: { replicas: 2 } }, undefined, { subresource: 'scale' });
    expect(await cluster.client.get(created)).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 4 } });
    const now = await cluster.client.get(created);
    await cluster.client.update({ ...now, status: { replicas: 5 } }, { subresource: 'status' });
    expect(await cluster.client.get(created)).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 5 } });
  });

  it('applies under its own name, and meets a conflict unless it takes by force', async () => {
    await using cluster = await start();
    const applied = await cluster.clientAs('my-operator').apply(configMap('settings'));
    expect(applied.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['my-operator', 'Apply'],
    ]);
    const other = { ...configMap('settings'), data: { level: 'debug' } };
    await expect(cluster.client.apply(other)).rejects.toThrow('conflict with "my-operator"');
    expect(await cluster.client.apply(other, { force: true })).toMatchObject({ data: { level: 'debug' } });
  });

  it('deletes all that a query selects, and nothing else', async () => {
    await using cluster = await start();
    await cluster.load([configMap('a', { app: 'web' }), configMap('b', { app: 'web' }), configMap('c')]);
    const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' };
    await cluster.client.deleteAllOf({ ...query, labelSelector: 'app=web' });
    expect(names(await cluster.client.list(query))).toEqual(['c']);
    await expect(cluster.client.deleteAllOf({ apiVersion: 'v1', kind: 'ConfigMap' })).rejects.toThrow(
      'deleteAllOf needs a namespace: ConfigMap is namespaced',
    );
  });

  it('watches: what is there, then what changes, until the cluster stops', async () => {
    await using cluster = await start();
    await cluster.load([configMap('a'), configMap('b')]);
    const events: string[] = [];
    const watching = (async () => {
      const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' };
      for await (const { type, object } of cluster.client.watch(query)) events.push(`${type} ${object.metadata?.name}`);
    })();
    await cluster.settled();
    expect(events).toEqual(['ADDED a', 'ADDED b']);
    await cluster.client.patch(configMap('a'), { data: { level: 'debug' } });
    await cluster.client.delete(configMap('b'));
    await cluster.settled();
    expect(events.slice(2)).toEqual(['MODIFIED a', 'DELETED b']);
    await cluster.stop();
    await watching;
  });

  it('watches from a version, and ends with the error that the server ends the watch with', async () => {
    await using cluster = await start();
    const { metadata } = await cluster.client.create(configMap('a'));
    await cluster.client.delete(configMap('a'));
    const query = { apiVersion: 'v1', kind: 'ConfigMap' };
    const { resourceVersion } = metadata;
    for await (const { type } of cluster.client.watch(query, { resourceVersion })) {
      expect(type).toBe('DELETED');
      break;
    }
    const late = cluster.client.watch(query, { resourceVersion: 'no-version' })[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toMatchObject({ name: 'StatusError' });
    const given = new AbortController();
    const watch: AsyncIterator<WatchEvent> = cluster.client.watch(query, { resourceVersion, signal: given.signal });
    await watch.next();
    given.abort();
    await expect(watch.next()).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
  });

  it('creates or updates, writes nothing when nothing changes, and begins anew after a conflict', async () => {
    await using cluster = await start();
    const debug = (object: { data: { level: string } }): void => void (object.data.level = 'debug');
    const first = await cluster.client.createOrUpdate(configMap('settings'), debug);
    expect([first.operation, first.object.data.level]).toEqual(['created', 'debug']);
    expect((await cluster.client.createOrUpdate(configMap('settings'), debug)).operation).toBe('unchanged');
    let calls = 0;
    const raced = cluster.client.createOrUpdate(configMap('settings'), (object) => {
      object.data.level = `call ${++calls}`;
      if (calls === 1)
        cluster.faults.add({ match: { verb: 'update' }, times: 1, answer: { status: 409, reason: 'Conflict' } });
    });
    expect(await raced).toMatchObject({ operation: 'updated', object: { data: { level: 'call 2' } } });
  });

  it('has warnings of the server in the trace: fields that it dropped, and a status that it ignored', async () => {
    await using cluster = await start();
    const { client } = cluster;
    const created = await client.create({ ...deployment, spec: { ...deployment.spec, replicaz: 2 } });
    await client.update({ ...created, status: { replicas: 3 } });
    await client.update({ ...(await client.get(created)), metadata: { ...created.metadata, resourceVersion: '' } });
    const warnings = cluster
      .trace()
      .about(created)
      .entries.filter(({ kind }) => kind === 'warning');
    expect(warnings.map(({ who, what }) => [who, what])).toEqual([
      ['test', 'unknown field "spec.replicaz"'],
      ['test', expect.stringContaining('the status in the body was ignored; write it by updateStatus')],
    ]);
    expect(String(cluster.trace())).toContain('Deployment default/web warning: unknown field "spec.replicaz"');
  });

  it('refuses fields that the server does not know when validation is strict, for one call or the cluster', async () => {
    await using cluster = await startCluster({ controllers: [], fieldValidation: 'Strict' });
    const wrong = { ...configMap('a'), dta: {} };
    await expect(cluster.client.create(wrong)).rejects.toThrow('strict decoding error: unknown field "dta"');
    await expect(cluster.load(wrong)).rejects.toThrow('strict decoding error: unknown field "dta"');
    await expect(cluster.client.create(wrong, { fieldValidation: 'Ignore' })).resolves.toBeDefined();
    await expect(startCluster({ objects: wrong, fieldValidation: 'Strict' })).rejects.toThrow('unknown field "dta"');
  });

  it('changes nothing in a dry run', async () => {
    await using cluster = await start();
    await cluster.client.create(configMap('a'), { dryRun: ['All'] });
    expect(await cluster.client.find(configMap('a'))).toBeUndefined();
  });

  it.each([
    [(client: never) => call(client, 'create', [configMap('a'), { force: true }]), 'create has no "force"'],
    [(client: never) => call(client, 'update', [configMap('a'), { dryrun: [] }]), 'update has no "dryrun"'],
    [
      (client: never) => call(client, 'create', [configMap('a'), { fieldValidation: 'strict' }]),
      'is one of Strict, Warn',
    ],
  ])('refuses options that it does not take %#', async (wrong, message) => {
    await using cluster = await start();
    await expect(wrong(cluster.client as never)).rejects.toThrow(message);
  });
});

/** As a caller without types. */
async function call(client: Record<string, (...values: unknown[]) => unknown>, name: string, values: unknown[]) {
  return client[name]?.(...values);
}
