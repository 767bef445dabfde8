import { expect, it } from 'vitest';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';

it('LIFE-450 LIFE-451 collector and namespace controller delete the same things and do not disturb each other', async () => {
  const cluster = await EmbeddedCluster.start();
  await cluster.run((environment) => new GarbageCollector(environment));
  await cluster.run((environment) => new NamespaceController(environment));
  const names = Array.from({ length: 25 }, (_, index) => `n${index}`);
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  for (const namespace of names) {
    await cluster.create({ gvr: namespaces }, { metadata: { name: namespace } });
    let owner = { kind: '', uid: '' };
    for (const [resource, kind] of [
      ['deployments', 'Deployment'],
      ['replicasets', 'ReplicaSet'],
    ] as const) {
      const ownerReferences =
        owner.uid === ''
          ? []
          : [{ apiVersion: 'apps/v1', name: 'd', controller: true, blockOwnerDeletion: true, ...owner }];
      const made = await cluster.create(
        { gvr: gvrOf(resource, 'apps'), namespace },
        { metadata: { name: 'd', ownerReferences }, spec },
      );
      owner = { kind, uid: made.metadata?.uid ?? '' };
    }
    const ownerReferences = [{ apiVersion: 'apps/v1', name: 'd', controller: true, ...owner }];
    await cluster.create({ gvr: pods, namespace }, { metadata: { name: 'p', ownerReferences }, spec: template.spec });
  }
  const foreground = { propagationPolicy: 'Foreground' } as const;
  await cluster.wait(
    Promise.all([
      ...names.map((name) => cluster.client.delete({ gvr: namespaces, name })),
      ...names.map((namespace) =>
        cluster.client.delete({ gvr: gvrOf('deployments', 'apps'), namespace, name: 'd' }, foreground),
      ),
    ]),
  );
  await cluster.until(
    async () => {
      const { items } = await cluster.client.list({ gvr: namespaces });
      return !items.some(({ metadata }) => names.includes(metadata?.name ?? ''));
    },
    { withinMs: 10_000 },
  );
  expect(cluster.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  await cluster.stop();
});
