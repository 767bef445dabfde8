// `kubegc/apiserver`: an API server in this process, for a program that brings its own controllers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from 'kubegc/apiserver';

const configmaps = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' };

test('objects are created, read, and deleted', async (t) => {
  const { client, stop } = await startApiServer();
  t.after(stop);
  const created = await client.create(configmaps, { metadata: { name: 'settings' }, data: { level: 'info' } });
  assert.equal(created.data.level, 'info');
  await client.delete({ ...configmaps, name: 'settings' });
  await assert.rejects(client.get({ ...configmaps, name: 'settings' }), { name: 'StatusError', reason: 'NotFound' });
});

test('other programs connect over HTTPS, with the kubeconfig', async (t) => {
  const { kubeconfig, stop } = await startApiServer({ listen: { host: '127.0.0.1', port: 0 } });
  t.after(stop);
  assert.match(kubeconfig, /server: https:\/\/127\.0\.0\.1:\d+/);
});
