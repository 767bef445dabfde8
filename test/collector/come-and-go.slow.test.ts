import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { PrometheusMetrics } from '../../src/cli/metrics/prometheus.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { definition } from '../apiextensions/definition-fixture.ts';
import { configMaps, EmbeddedCluster, gvrOf } from '../lifecycle/embedded-cluster.ts';

/**
 * The whole collector, with discovery, kinds, monitors, queues and the metrics page, on the real server with real definitions.
 * `monitors/come-and-go.slow.test.ts` checks only the tables of monitors and graph, and can therefore count ten thousand.
 */
const definitions = gvrOf('customresourcedefinitions', 'apiextensions.k8s.io');
const namespace = 'default';
const ROUND = 20;
const ROUNDS = 15;

type Named = KubeObject & { metadata: ObjectMeta };

let cluster: EmbeddedCluster;
let metrics: PrometheusMetrics;
let collector: GarbageCollector;
beforeEach(async () => {
  metrics = new PrometheusMetrics();
  cluster = await EmbeddedCluster.start();
  await cluster.run(
    (environment) => (collector = new GarbageCollector({ ...environment, metrics, identity: 'certain' })),
  );
});
afterEach(() => cluster.stop());

/** Nothing that is kept by name can be used again. */
const nth = (n: number) => ({
  group: `group-${n}.example.com`,
  kind: `Kind${n}`,
  gvr: gvrOf(`plurals${n}`, `group-${n}.example.com`),
  definitionName: `plurals${n}.group-${n}.example.com`,
});
type Nth = ReturnType<typeof nth>;

async function define({ group, kind, gvr, definitionName }: Nth): Promise<void> {
  const names = { plural: gvr.resource, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  await cluster.create({ gvr: definitions }, definition({ group, names }) as Named);
  await cluster.until(async () => {
    const found = await cluster.client.get({ gvr: definitions, name: definitionName });
    return JSON.stringify(found['status']).includes('InitialNamesAccepted');
  });
}

async function configMap(name: string): Promise<OwnerReference> {
  const { metadata: { uid = '' } = {} } = await cluster.create({ gvr: configMaps, namespace }, { metadata: { name } });
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid };
}

/** Deletes one object of each kind and patches another, because its other owner stays. */
async function collectOneOfEach(kinds: readonly Nth[]): Promise<void> {
  const owner = await configMap('owner');
  const other = await configMap('other');
  for (const { group, kind, gvr } of kinds) {
    const type = { apiVersion: `${group}/v1`, kind };
    const released = { name: 'released', ownerReferences: [owner, other] };
    await cluster.create({ gvr, namespace }, { ...type, metadata: { name: 'owned', ownerReferences: [owner] } });
    await cluster.create({ gvr, namespace }, { ...type, metadata: released });
  }
  await cluster.wait(cluster.client.delete({ gvr: configMaps, namespace, name: 'owner' }));
  for (const { gvr } of kinds) {
    await cluster.until(async () => {
      const { items } = await cluster.client.list({ gvr, namespace });
      return items.length === 1 && items[0]?.metadata?.ownerReferences?.length === 1;
    });
  }
  await cluster.wait(
    cluster.client.delete({ gvr: configMaps, namespace, name: 'other' }, { propagationPolicy: 'Orphan' }),
  );
  await cluster.until(async () => (await cluster.get({ gvr: configMaps, namespace, name: 'other' })) === undefined);
}

async function undefine(kinds: readonly Nth[]): Promise<void> {
  for (const { definitionName: name } of kinds) await cluster.wait(cluster.client.delete({ gvr: definitions, name }));
  await cluster.until(async () => (await cluster.client.list({ gvr: definitions })).items.length === 0);
  await cluster.clock.advanceAsync(120_000);
}

async function comeAndGo(from: number): Promise<void> {
  const kinds = Array.from({ length: ROUND }, (_, i) => nth(from + i));
  for (const kind of kinds) await define(kind);
  await collectOneOfEach(kinds);
  await undefine(kinds);
}

/** Lines of the metrics page, without their values. */
async function series(): Promise<string[]> {
  const { text } = await metrics.expose();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
}

/** The gauges at this moment, from the metrics page. */
async function gauges(): Promise<string[]> {
  const { text } = await metrics.expose();
  return text
    .split('\n')
    .filter((line) => /^(?:kubegc_collector_(?!.*_total)|workqueue_depth)/.test(line) && !line.includes('call_limit'));
}

async function countable() {
  const { counts, resources } = collector.consistency;
  return {
    series: await series(),
    gauges: await gauges(),
    counts,
    monitors: resources.length,
    invariants: collector.consistency.invariants(),
    timers: cluster.clock.pendingTimers,
  };
}

describe('definitions that come and go', () => {
  it('COL-028 COL-191 hundreds of them, with a collected object each, leave what the first ones left', async () => {
    await comeAndGo(0);
    const first = await countable();
    for (let round = 1; round < ROUNDS; round++) await comeAndGo(round * ROUND);
    expect(await countable()).toEqual(first);
  }, 300_000);

  it('COL-191 a deletion that is counted after its resource went is forgotten at the next read of discovery', async () => {
    const kind = nth(0);
    const before = (await series()).filter((line) => line.includes(kind.gvr.resource));
    const held: (() => void)[] = [];
    cluster.fault = async (request, next) => {
      const response = await next(request);
      if (request.method === 'DELETE') await new Promise<void>((resolve) => held.push(resolve));
      return response;
    };
    await define(kind);
    await collectOneOfEach([kind]);
    await cluster.wait(cluster.client.delete({ gvr: definitions, name: kind.definitionName }));
    await cluster.until(async () => (await cluster.client.list({ gvr: definitions })).items.length === 0);
    await cluster.until(() =>
      Promise.resolve(collector.consistency.resources.every(({ group }) => group !== kind.group)),
    );
    expect(held).toHaveLength(1);
    for (const release of held) release();
    await cluster.clock.advanceAsync(60_000);
    expect((await series()).filter((line) => line.includes(kind.gvr.resource))).toEqual(before);
  });

  it('COL-191 one that comes back begins at nothing', async () => {
    const kind = nth(0);
    const deletions = async (): Promise<string[]> => {
      const { text } = await metrics.expose();
      return text.split('\n').filter((line) => line.startsWith(`kubegc_collector_deletions_total{resource="plurals0"`));
    };
    for (let round = 0; round < 2; round++) {
      await define(kind);
      await collectOneOfEach([kind]);
      await cluster.clock.advanceAsync(1000);
      expect(await deletions()).toEqual([
        'kubegc_collector_deletions_total{resource="plurals0",policy="Background"} 1',
      ]);
      await undefine([kind]);
      expect(await deletions()).toEqual([]);
    }
  });
});
