import { describe, expect } from 'vitest';
import type { TestCluster } from '../../src/testing/testing.ts';
import { clusterTest } from '../../src/testing/vitest.ts';

const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default' } };
const it = clusterTest.extend({ clusterOptions: { objects: [settings], controllers: [] } });

describe('kubegc/testing/vitest', () => {
  let first: TestCluster | undefined;

  it('gives a test a cluster with the options of its file, and the matchers with their types', async ({ cluster }) => {
    const found = await cluster.client.get(settings);
    await expect(found).not.toBeCollected();
    await expect(found).not.toHaveFinalizer('example.com/x');
    first = cluster;
  });

  it('gives the next test another one, and has stopped the first', async ({ cluster }) => {
    expect(cluster).not.toBe(first);
    await expect(first?.client.create({ ...settings, metadata: { name: 'late' } })).rejects.toThrow();
    await expect(cluster.client.get(settings)).resolves.toBeDefined();
  });
});
