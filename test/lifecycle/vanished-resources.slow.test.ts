import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/meta/object-meta.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { PrometheusMetrics } from '../../src/cli/metrics/prometheus.ts';
import { deletionCounter } from '../../src/lifecycle/kit/deletion-counter.ts';
import { forgetVanished } from '../../src/lifecycle/namespace/namespace-content.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { definition } from '../apiextensions/definition-fixture.ts';
import { configMaps, EmbeddedCluster, gvrOf, namespaces } from './embedded-cluster.ts';

const definitions = gvrOf('customresourcedefinitions', 'apiextensions.k8s.io');

type Named = KubeObject & { metadata: ObjectMeta };

describe('deletions that are counted by resource', () => {
  let cluster: EmbeddedCluster;
  let metrics: PrometheusMetrics;
  beforeEach(async () => {
    metrics = new PrometheusMetrics();
    cluster = await EmbeddedCluster.start();
    await cluster.run((environment) => new NamespaceController({ ...environment, metrics }));
  });
  afterEach(() => cluster.stop());

  const counted = async (): Promise<string[]> => {
    const { text } = await metrics.expose();
    return text.split('\n').filter((line) => line.startsWith('kubegc_lifecycle_deletions_total'));
  };
  const empty = async (name: string): Promise<void> => {
    await cluster.wait(cluster.client.delete({ gvr: namespaces, name }));
    await cluster.until(async () => (await cluster.get({ gvr: namespaces, name })) === undefined);
  };
  const comeAndGo = async (n: number): Promise<void> => {
    const group = `group-${n}.example.com`;
    const gvr = gvrOf(`plurals${n}`, group);
    const names = { plural: gvr.resource, singular: `kind${n}`, kind: `Kind${n}`, listKind: `Kind${n}List` };
    const name = `${gvr.resource}.${group}`;
    await cluster.create({ gvr: definitions }, definition({ group, names }) as Named);
    await cluster.until(async () =>
      JSON.stringify(await cluster.client.get({ gvr: definitions, name })).includes('InitialNamesAccepted'),
    );
    const namespace = `n${n}`;
    await cluster.create({ gvr: namespaces }, { metadata: { name: namespace } });
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'a' } });
    await cluster.create({ gvr, namespace }, { apiVersion: `${group}/v1`, kind: names.kind, metadata: { name: 'a' } });
    await empty(namespace);
    await cluster.wait(cluster.client.delete({ gvr: definitions, name }));
    await cluster.until(async () => (await cluster.get({ gvr: definitions, name })) === undefined);
  };

  it('LIFE-019 are forgotten with the resource, when a namespace goes after it', async () => {
    for (let n = 0; n < 40; n++) {
      await comeAndGo(n);
      expect(await counted()).toHaveLength(2);
    }
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'last' } });
    await empty('last');
    expect(await counted()).toEqual([
      'kubegc_lifecycle_deletions_total{controller="namespace-controller",resource="configmaps",reason="namespace-deleted",result="ok"} 40',
    ]);
  });
});

describe('forgetVanished', () => {
  it('LIFE-019 keeps what is served, and what may be in a group that could not be read', () => {
    const metrics = new MemoryMetrics();
    const deletions = deletionCounter(metrics);
    const labels = (resource: string, controller = 'namespace-controller') => ({
      controller,
      resource,
      reason: 'namespace-deleted',
      result: 'ok',
    });
    const all = ['pods', 'gone', 'a.served.io', 'gone.served.io', 'b.unread.io', 'c.vanished.io'];
    const left = () => all.filter((each) => metrics.value('kubegc_lifecycle_deletions_total', labels(each)) === 1);
    const resource = {
      kind: 'K',
      namespaced: true,
      verbs: [],
      singular: '',
      shortNames: [],
      categories: [],
      subresources: [],
    };
    const resources = [
      { ...resource, ...gvrOf('pods') },
      { ...resource, ...gvrOf('a', 'served.io') },
    ];
    for (const each of all) deletions.inc(labels(each));
    deletions.inc(labels('c.vanished.io', 'another'));
    forgetVanished(deletions, { resources, failedGroupVersions: new Map([['unread.io/v1', new Error('503')]]) });
    expect(left()).toEqual(['pods', 'a.served.io', 'b.unread.io']);
    expect(metrics.value('kubegc_lifecycle_deletions_total', labels('c.vanished.io', 'another'))).toBe(1);
    for (const each of all) deletions.inc(labels(each), left().includes(each) ? 0 : 1);
    forgetVanished(deletions, { resources, failedGroupVersions: new Map([['v1', new Error('503')]]) });
    expect(left()).toEqual(['pods', 'gone', 'a.served.io']);
  });
});
