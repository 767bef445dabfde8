import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newForbidden } from '../../src/api/status-error.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { explain } from '../../src/cascade/explain/explain.ts';
import { readEvidence } from '../../src/cascade/explain/read-evidence.ts';
import { lintCluster } from '../../src/cascade/lint/lint-cluster.ts';
import { readObservation } from '../../src/cascade/observed/read-observation.ts';
import { previewCascade } from '../../src/cascade/preview/preview.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { startCluster } from '../../src/testing/testing.ts';

/** As a RoleBinding in one namespace allows it: lists of it, and of nothing else. */
const onlyIn =
  (namespace: string): Interceptor =>
  (request, next) => {
    const [path = ''] = request.target.split('?');
    const isObjects = /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/./.test(path);
    if (!isObjects || path.includes(`/namespaces/${namespace}/`)) return next(request);
    const { status } = newForbidden({ group: '', resource: 'things' }, '', 'no role');
    return Promise.resolve({
      status: 403,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(status)),
    });
  };

it('CAS-002 with rights in one namespace alone its objects are read there, and previewed', async () => {
  await using cluster = await startCluster({ controllers: [] });
  const { client } = cluster;
  const owner = await client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'o', namespace: 'default' },
  });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: owner.metadata?.uid ?? '' }];
  const dependent: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'd', namespace: 'default', ownerReferences },
  };
  await client.create(dependent);
  const limited = client.rest.through(onlyIn('default'));

  const nowhere = await readSnapshot({ client: limited, clock: systemClock });
  expect(nowhere.graph.counts.nodes).toBe(0);
  expect(new Set(nowhere.incomplete.map(({ reason }) => reason))).toEqual(new Set(['you have no right to list it']));

  const snapshot = await readSnapshot({ client: limited, clock: systemClock, namespaces: ['default'] });
  const reasons = new Map(snapshot.incomplete.map(({ resource, reason }) => [resource, reason]));
  expect(reasons.get('secrets')).toBe('you may list it in namespace default, and not in all namespaces');
  expect(reasons.get('namespaces')).toBe('you have no right to list it');
  const plan = await previewCascade(limited, snapshot, {
    roots: [{ uid: owner.metadata?.uid ?? '' }],
    assumeFinalizers: 'removed',
  });
  expect(plan.objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`)).toEqual(['o deleted', 'd deleted']);
});

it('CAS-002 CAS-030 with rights in one namespace alone an object is explained, and lint says what it could not read', async () => {
  await using cluster = await startCluster({ controllers: [] });
  const { client } = cluster;
  const owner = await client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'o', namespace: 'default' },
  });
  const reference = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid });
  for (const [name, uid] of [
    ['child', owner.metadata?.uid ?? ''],
    ['stray', '00000000-0000-4000-8000-000000000000'],
  ] as const) {
    const metadata = { name, namespace: 'default', ownerReferences: [reference(uid)] };
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata });
  }
  const limited = client.rest.through(onlyIn('default'));
  const discovery = await discover(limited);
  const subject = {
    apiVersion: 'v1',
    kind: 'Secret',
    resource: 'secrets',
    namespace: 'default',
    name: 'child',
    uid: '',
  };
  const explanation = explain(await readEvidence(subject, { client: limited, clock: systemClock, discovery }));
  expect(explanation).toMatchObject({ state: 'alive', owners: [{ class: 'solid' }] });
  const reasons = new Map(explanation.incomplete?.map(({ resource, reason }) => [resource, reason]));
  expect(reasons.get('secrets')).toBe('you may list it in namespace default, and not in all namespaces');
  expect(reasons.get('nodes')).toBe('you have no right to list it');

  const options = { client: limited, clock: systemClock, discovery, fallbackNamespace: 'default' };
  const report = lintCluster(await readObservation(options), { olderThanMs: 0 });
  expect(report.findings.map(({ ref }) => ref?.name)).toContain('stray');
});
