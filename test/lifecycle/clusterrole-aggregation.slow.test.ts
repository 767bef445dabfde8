import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterRoleAggregationController } from '../../src/lifecycle/clusterrole-aggregation/clusterrole-aggregation-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const clusterRoles = gvrOf('clusterroles', 'rbac.authorization.k8s.io');
const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });

let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.run((environment) => new ClusterRoleAggregationController(environment));
});
afterEach(() => cluster.stop());

const resourcesOf = async (name: string): Promise<readonly string[]> => {
  const role = await cluster.get({ gvr: clusterRoles, name });
  return ((role?.['rules'] ?? []) as { resources: string[] }[]).flatMap(({ resources }) => resources);
};
const has =
  (name: string, ...resources: string[]) =>
  async () =>
    JSON.stringify(await resourcesOf(name)) === JSON.stringify(resources);

describe('ClusterRoles that aggregate', () => {
  it('API-375 have what their parts have: new ones, changed ones, gone ones, and of those that aggregate themselves', async () => {
    const aggregating = (name: string, label: string, labels: Record<string, string>) => ({
      metadata: { name, labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
    });
    await cluster.create({ gvr: clusterRoles }, aggregating('inner', 'to-inner', { 'to-outer': 'true' }));
    await cluster.create({ gvr: clusterRoles }, aggregating('outer', 'to-outer', {}));
    const part = { metadata: { name: 'part', labels: { 'to-inner': 'true' } }, rules: [rule('pods')] };
    await cluster.create({ gvr: clusterRoles }, part);
    await cluster.until(has('outer', 'pods'));
    const type = 'application/merge-patch+json';
    await cluster.wait(
      cluster.client.patch({ gvr: clusterRoles, name: 'part' }, { type, body: { rules: [rule('nodes')] } }),
    );
    await cluster.until(has('outer', 'nodes'));
    await cluster.wait(cluster.client.patch({ gvr: clusterRoles, name: 'outer' }, { type, body: { rules: [] } }));
    await cluster.until(has('outer', 'nodes'));
    const { metadata } = (await cluster.get({ gvr: clusterRoles, name: 'outer' })) ?? {};
    const managers = metadata?.managedFields as { manager: string; operation: string }[] | undefined;
    expect(managers?.map(({ manager, operation }) => `${manager} ${operation}`)).toContain(
      'clusterrole-aggregation-controller Apply',
    );
    await cluster.wait(cluster.client.delete({ gvr: clusterRoles, name: 'part' }));
    await cluster.until(has('outer'));
    // At rest it asks for nothing.
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(60_000);
    expect(cluster.requests).toEqual([]);
  });
});
