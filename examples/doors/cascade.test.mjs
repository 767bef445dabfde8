// `kubegc/cascade`: what a deletion would take with it, in a program of one's own, before anything is deleted.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApiServer } from 'kubegc/apiserver';
import {
  deletePlanned,
  explainObject,
  graph,
  guardVerdict,
  lint,
  lintManifests,
  openRecords,
  PlanChangedError,
  planRelink,
  planUndo,
  preview,
  tree,
  undo,
} from 'kubegc/cascade';

const configmaps = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' };
const configMap = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name });

test('a dependent goes with its owner, and stays when it is orphaned', async (t) => {
  const { client, stop } = await startApiServer();
  t.after(stop);
  const { metadata } = await client.create(configmaps, { metadata: { name: 'owner' } });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid };
  await client.create(configmaps, { metadata: { name: 'dependent', ownerReferences: [owner] } });

  const plan = await preview(client, [configMap('owner')]);
  assert.deepEqual(plan.summary.byOutcome, { deleted: 2 });
  const orphaning = await preview(client, [configMap('owner')], { policy: 'Orphan' });
  assert.deepEqual(orphaning.summary.byOutcome, { deleted: 1, orphaned: 1 });
  assert.notEqual(plan.digest, orphaning.digest);

  const { nodes } = await tree(client, configMap('owner'));
  assert.deepEqual(
    nodes.map(({ ref, dies }) => [ref.name, dies]),
    [
      ['owner', 2],
      ['dependent', 1],
    ],
  );
  const { state, owners } = await explainObject(client, configMap('dependent'));
  assert.deepEqual([state, owners.map((each) => each.class)], ['alive', ['solid']]);
  assert.deepEqual((await lint(client)).findings, []);
  await assert.rejects(preview(client, [configMap('missing')]), /ConfigMap "default\/missing" does not exist/);
});

test('a plan is carried out while it holds, with a record, and taken back', async (t) => {
  const { client, stop } = await startApiServer();
  t.after(stop);
  const folder = await mkdtemp(join(tmpdir(), 'kubegc-records-'));
  t.after(() => rm(folder, { recursive: true }));
  const records = openRecords(folder);
  await client.create(configmaps, { metadata: { name: 'settings' }, data: { colour: 'blue' } });

  const plan = await preview(client, [configMap('settings')]);
  const patch = { type: 'application/merge-patch+json', body: { data: { colour: 'green' } } };
  await client.patch({ ...configmaps, name: 'settings' }, patch);
  await assert.rejects(deletePlanned(client, plan, { records }), PlanChangedError);
  assert.deepEqual((await records.list()).records, []);

  const { id, end, differences } = await deletePlanned(client, await preview(client, [configMap('settings')]), {
    records,
  });
  assert.deepEqual([end, differences], ['asPlanned', []]);
  assert.equal((await records.read(id)).outcome, 'asPlanned');
  assert.equal((await planUndo(client, records, id)).summary.create, 1);
  assert.equal((await undo(client, records, id)).summary.created, 1);
  assert.equal((await undo(client, records, id)).summary.created, 0);
  const { data } = await client.get({ ...configmaps, name: 'settings' });
  assert.equal(data.colour, 'green');
  assert.deepEqual((await planRelink(client)).objects, []);
  const names = (await graph(client, { namespace: 'default' })).nodes.map(({ ref }) => ref.name);
  assert.ok(names.includes('settings'));
});

test('manifests are checked without a cluster, with the rights that blockOwnerDeletion needs', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', blockOwnerDeletion: true };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', ownerReferences: [owner] } };
  const { findings } = lintManifests([manifest], { now: Date.now() });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['uidInManifest', 'blockOwnerDeletionRight'],
  );
  assert.match(findings[1].fix, /resources: \["deployments\/finalizers"\]/);
});

test('a guard is asked about a write before it is sent, from objects that the program has', () => {
  const user = { username: 'ann', groups: ['system:authenticated'] };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u1' } };
  const annotations = { 'kubegc.io/protect': 'holds open orders' };
  const orders = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'orders', namespace: 'shop', uid: 'u2' } };
  const deletion = {
    operation: 'DELETE',
    group: '',
    version: 'v1',
    resource: 'namespaces',
    subresource: '',
    namespace: 'shop',
    name: 'shop',
    user,
    dryRun: false,
    oldObject: namespace,
  };
  const now = Date.now();
  assert.equal(guardVerdict(deletion, {}, { objects: [namespace, orders], now }).allowed, true);

  const kept = { ...orders, metadata: { ...orders.metadata, annotations } };
  const refused = guardVerdict(deletion, {}, { objects: [namespace, kept], now });
  assert.deepEqual([refused.allowed, refused.reason], [false, 'reachesProtected']);
  assert.match(refused.message, /DETAIL: configmaps shop\/orders: holds open orders/);

  const budgets = [{ perDelete: 1 }];
  assert.equal(guardVerdict(deletion, { budgets }, { objects: [namespace, orders], now }).reason, 'exceedsBudget');
});
