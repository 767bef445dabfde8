import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/meta/object-meta.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { configMaps, EmbeddedCluster, gvrOf } from '../lifecycle/embedded-cluster.ts';
import { definition, widget } from './definition-fixture.ts';

const definitions = gvrOf('customresourcedefinitions', 'apiextensions.k8s.io');
const widgets = gvrOf('widgets', 'example.com');
const namespace = 'default';

/** The real collector and the real server, with time in the hands of the test. */
describe('custom resources and the collector', () => {
  let cluster: EmbeddedCluster;
  const start = async (): Promise<void> => {
    cluster = await EmbeddedCluster.start();
    await cluster.run((environment) => new GarbageCollector(environment));
  };
  // Loads the modules that the server loads on demand. Loading takes real time, in which the clock of these tests runs on: otherwise the
  // collector would ask before there is anything to see.
  beforeAll(async () => {
    await start();
    await define();
    await cluster.create({ gvr: widgets, namespace }, widget('first') as Named);
    await cluster.stop();
  });
  beforeEach(start);
  afterEach(() => cluster.stop());

  type Named = KubeObject & { metadata: ObjectMeta };
  const define = async (): Promise<void> => {
    await cluster.create({ gvr: definitions }, definition() as Named);
    await cluster.until(async () => {
      const found = await cluster.client.get({ gvr: definitions, name: 'widgets.example.com' });
      return JSON.stringify(found['status']).includes('InitialNamesAccepted');
    });
  };
  const ownedBy = (owner: KubeObject): Pick<ObjectMeta, 'ownerReferences'> => ({
    ownerReferences: [
      {
        apiVersion: owner.apiVersion ?? '',
        kind: owner.kind ?? '',
        name: owner.metadata?.name ?? '',
        uid: owner.metadata?.uid ?? '',
        blockOwnerDeletion: true,
      },
    ],
  });

  it('BETTER-3 API-474 objects of a new definition own and are owned at once', async () => {
    await define();
    const parent = await cluster.create({ gvr: widgets, namespace }, widget('parent') as Named);
    const child = await cluster.create(
      { gvr: widgets, namespace },
      widget('child', { metadata: ownedBy(parent) }) as Named,
    );
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'grandchild', ...ownedBy(child) } });
    await cluster.wait(cluster.client.delete({ gvr: widgets, namespace, name: 'parent' }));
    const took = await cluster.until(async () => {
      const left = await cluster.client.list({ gvr: configMaps, namespace });
      return left.items.every(({ metadata }) => metadata?.name !== 'grandchild');
    });
    expect(took).toBeLessThanOrEqual(2000);
    expect(await cluster.names({ gvr: widgets, namespace })).toEqual([]);
  });

  it('BETTER-3 API-458 a definition that is made again and again takes part as soon as the first time', async () => {
    const goes = async (ref: Parameters<typeof cluster.get>[0]): Promise<number> =>
      await cluster.until(async () => (await cluster.get(ref)) === undefined);
    const took: number[] = [];
    for (let round = 0; round < 8; round++) {
      await define();
      const owner = await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'owner' } });
      const metadata = ownedBy({ ...owner, apiVersion: 'v1', kind: 'ConfigMap' });
      await cluster.create({ gvr: widgets, namespace }, widget('owned', { metadata }) as Named);
      await cluster.wait(cluster.client.delete({ gvr: configMaps, namespace, name: 'owner' }));
      took.push(await goes({ gvr: widgets, namespace, name: 'owned' }));
      await cluster.wait(cluster.client.delete({ gvr: definitions, name: 'widgets.example.com' }));
      await goes({ gvr: definitions, name: 'widgets.example.com' });
      await cluster.clock.advanceAsync(round * 20);
    }
    expect(Math.max(...took)).toBeLessThanOrEqual(600);
  });

  it('COL-114 a custom owner that is there keeps its dependents, also through its definition being changed', async () => {
    await define();
    const owner = await cluster.create({ gvr: widgets, namespace }, widget('owner') as Named);
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'kept', ...ownedBy(owner) } });
    const found = await cluster.wait(cluster.client.get({ gvr: definitions, name: 'widgets.example.com' }));
    const spec = found['spec'] as { names: object };
    await cluster.wait(
      cluster.client.update(
        { gvr: definitions, name: 'widgets.example.com' },
        { ...found, spec: { ...spec, names: { ...spec.names, shortNames: ['wd'] } } },
      ),
    );
    await cluster.clock.advanceAsync(40_000);
    expect(await cluster.get({ gvr: configMaps, namespace, name: 'kept' })).toBeDefined();
  });

  it('API-474 foreground deletion of a custom owner waits for what blocks it', async () => {
    await define();
    const owner = await cluster.create({ gvr: widgets, namespace }, widget('owner') as Named);
    const held = { name: 'held', finalizers: ['example.com/x'], ...ownedBy(owner) };
    await cluster.create({ gvr: configMaps, namespace }, { metadata: held });
    await cluster.wait(
      cluster.client.delete({ gvr: widgets, namespace, name: 'owner' }, { propagationPolicy: 'Foreground' }),
    );
    await cluster.until(async () =>
      Boolean((await cluster.client.get({ gvr: configMaps, namespace, name: 'held' })).metadata?.deletionTimestamp),
    );
    await cluster.clock.advanceAsync(10_000);
    expect(await cluster.get({ gvr: widgets, namespace, name: 'owner' })).toBeDefined();
    const patch = { type: 'application/merge-patch+json', body: { metadata: { finalizers: null } } } as const;
    await cluster.wait(cluster.client.patch({ gvr: configMaps, namespace, name: 'held' }, patch));
    await cluster.until(async () => (await cluster.client.list({ gvr: widgets, namespace })).items.length === 0);
  });

  it('API-458 a definition that goes takes its objects along, and the collector goes on', async () => {
    await define();
    await cluster.create({ gvr: widgets, namespace }, widget('a') as Named);
    await cluster.wait(cluster.client.delete({ gvr: definitions, name: 'widgets.example.com' }));
    await cluster.until(async () => (await cluster.client.list({ gvr: definitions })).items.length === 0);
    await cluster.clock.advanceAsync(5000);
    const owner = await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'owner' } });
    await cluster.create(
      { gvr: configMaps, namespace },
      { metadata: { name: 'owned', ...ownedBy({ ...owner, apiVersion: 'v1', kind: 'ConfigMap' }) } },
    );
    await cluster.wait(cluster.client.delete({ gvr: configMaps, namespace, name: 'owner' }));
    await cluster.until(
      async () =>
        !(await cluster.client.list({ gvr: configMaps, namespace })).items.some(
          ({ metadata }) => metadata?.name === 'owned',
        ),
    );
  });

  it('API-464 COL-102 a kind whose webhook is dead holds no owner: its other dependents go, and then the owner', async () => {
    await cluster.create({ gvr: definitions }, convertedByNobody() as Named);
    const gadgets = gvrOf('gadgets', 'example.com');
    await cluster.until(async () => {
      const found = await cluster.client.get({ gvr: definitions, name: 'gadgets.example.com' });
      return JSON.stringify(found['status']).includes('InitialNamesAccepted');
    });
    const owner = await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'owner' } });
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'other', ...ownedBy(owner) } });
    const apiVersion = 'example.com/v1';
    const metadata = { name: 'unreadable', ...ownedBy(owner) };
    await cluster.clock.advanceAsync(40_000);
    await cluster.create({ gvr: gadgets, namespace }, { apiVersion, kind: 'Gadget', metadata } as Named);
    await cluster.clock.advanceAsync(10_000);
    await cluster.wait(
      cluster.client.delete({ gvr: configMaps, namespace, name: 'owner' }, { propagationPolicy: 'Foreground' }),
    );
    await cluster.until(async () => (await cluster.get({ gvr: configMaps, namespace, name: 'other' })) === undefined);
    await cluster.until(async () => (await cluster.get({ gvr: configMaps, namespace, name: 'owner' })) === undefined, {
      withinMs: 30_000,
    });
    expect(await cluster.get({ gvr: gadgets, namespace, name: 'unreadable' })).toBeDefined();
  });
});

/** Stored in v1 and preferred in v2, with a webhook at a port where nothing listens. */
function convertedByNobody(): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema });
  const webhook = { clientConfig: { url: 'https://127.0.0.1:1/convert' }, conversionReviewVersions: ['v1'] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [version('v1'), version('v2')],
      conversion: { strategy: 'Webhook', webhook },
    },
  };
}
