// `kubegc/collector`: the garbage collector in a program of one's own, against an API server that has none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApiServer } from 'kubegc/apiserver';
import { isNotFound } from 'kubegc/client';
import { createCollector } from 'kubegc/collector';

const configmaps = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' };

test('a dependent goes after its owner, and the reason is told', async (t) => {
  const { client, stop } = await startApiServer();
  t.after(stop);
  const reasons = [];
  const collector = createCollector({ client, onDecision: ({ reason }) => reasons.push(reason) });
  const ending = new AbortController();
  const running = collector.run(ending.signal);

  const { metadata } = await client.create(configmaps, { metadata: { name: 'owner' } });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid };
  await client.create(configmaps, { metadata: { name: 'dependent', ownerReferences: [owner] } });
  await client.delete({ ...configmaps, name: 'owner' });
  const dependent = { ...configmaps, name: 'dependent' };
  for (let tries = 0; !((await client.get(dependent).catch(isNotFound)) === true); tries++) {
    assert.ok(tries < 1000, 'the dependent is still there');
    await sleep(10);
  }
  ending.abort();
  await running;
  assert.ok(reasons.includes('ownersAbsent'));
});
