// `kubegc/cascade`: what a deletion would take with it, in a program of one's own, before anything is deleted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from 'kubegc/apiserver';
import { explainObject, lint, preview, tree } from 'kubegc/cascade';

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
