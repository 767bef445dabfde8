// `kubegc/client`: talk to any cluster. Here it is a server of `kubegc/apiserver`; without `kubeconfig` it is kubectl's.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApiServer } from 'kubegc/apiserver';
import { connectToCluster, createInformer, isNotFound } from 'kubegc/client';

const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const settings = { gvr, namespace: 'default', name: 'settings' };

test('a cache follows what happens', async (t) => {
  const server = await startApiServer({ listen: { host: '127.0.0.1', port: 0 } });
  t.after(server.stop);
  const directory = await mkdtemp(join(tmpdir(), 'kubegc-example-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig);

  const client = await connectToCluster({ kubeconfig, userAgent: 'example/1.0', timeoutMs: 10_000 });
  t.after(() => client.close());
  assert.equal(await client.get(settings).catch(isNotFound), true);

  const informer = createInformer({ client, gvr, namespace: 'default' });
  const ending = new AbortController();
  const running = informer.run(ending.signal);
  await informer.waitForSync(ending.signal);
  const added = new Promise((resolve) => informer.addHandler({ added: (object) => resolve(object.metadata.name) }));
  await client.create({ gvr, namespace: 'default' }, { metadata: { name: 'settings' } });
  assert.equal(await added, 'settings');
  assert.equal(informer.get('default/settings').metadata.name, 'settings');
  ending.abort();
  await running;
});
