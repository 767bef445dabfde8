import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import {
  clusterRole,
  clusterWidget,
  configMap,
  deployment,
  event,
  namespace,
  persistentVolume,
  pod,
  refTo,
  refToNothing,
  replicaSet,
  secret,
  type TestKind,
  widget,
} from './kinds.ts';
import { deleteOptionsOf } from './recorder.ts';
import { Rig } from './rig.ts';

/** Sections 6 and 21: what is deleted because its owners are gone, and what is not. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  rig.serve(clusterWidget);
  await rig.startCollector();
});
afterEach(() => rig.stop());

const deletions = () =>
  rig.recorder.writes
    .filter(({ method }) => method === 'DELETE')
    .map((call) => `${call.path.split('/').at(-1)} ${deleteOptionsOf(call).propagationPolicy}`);

describe('an owner that is gone', () => {
  it('COL-090 row 15: takes all that it owned with it, over several levels and kinds', async () => {
    const owner = await rig.create(deployment, 'owner');
    const set = await rig.create(replicaSet, 'set', { owners: [refTo(owner, { block: true, controller: true })] });
    for (const name of ['p0', 'p1']) {
      await rig.create(pod, name, { owners: [refTo(set, { block: true, controller: true })] });
    }
    await rig.create(widget, 'w', { owners: [refTo(owner)] });
    await rig.delete(deployment, 'owner');
    await rig.rest();
    for (const kind of [deployment, replicaSet, pod, widget]) expect(await rig.names(kind)).toEqual([]);
  });

  it('COL-248 takes nothing while its own finalizers hold it', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.patch(configMap, 'owner', { finalizers: null });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-249 COL-095 a dependent with a finalizer of others terminates, is asked once, and goes with it', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.patch(secret, 'd', { labels: { a: 'b' } });
    await rig.advance(60_000);
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toEqual(expect.any(String));
    expect(rig.recorder.counts).toEqual({ DELETE: 1 });
    await rig.patch(secret, 'd', { finalizers: null });
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-096 a pod keeps its own grace period', async () => {
    const owner = await rig.create(configMap, 'owner');
    const body = { spec: { ...(pod.body['spec'] as object), terminationGracePeriodSeconds: 7, nodeName: 'n' } };
    await rig.create(pod, 'd', { owners: [refTo(owner)], body });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect((await rig.get(pod, 'd'))?.metadata?.deletionGracePeriodSeconds).toBe(7);
    expect(rig.recorder.counts).toEqual({ DELETE: 1 });
  });

  it('COL-247 COL-090 row 12: one of two owners: its reference is removed, the dependent lives', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    await rig.create(secret, 'd', { owners: [refTo(a), refTo(b)] });
    await rig.delete(configMap, 'a');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['b']);
    await rig.delete(configMap, 'b');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-24E a dependent that carries a finalizer of deletion is deleted with the policy it stands for', async () => {
    const owner = await rig.create(configMap, 'owner');
    const orphaning = await rig.create(configMap, 'o', { owners: [refTo(owner)], finalizers: ['orphan'] });
    const waiting = await rig.create(configMap, 'f', { owners: [refTo(owner)], finalizers: ['foregroundDeletion'] });
    await rig.create(secret, 'kept', { owners: [refTo(orphaning)] });
    await rig.create(secret, 'gone', { owners: [refTo(waiting, { block: true })] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(deletions().toSorted()).toEqual(['f Foreground', 'gone Background', 'o Orphan']);
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], ['kept']]);
  });

  it('COL-242 the same name again is somebody else', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.patch(configMap, 'owner', { finalizers: null });
    await rig.create(configMap, 'owner');
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([['owner'], []]);
  });

  it.each([
    { rule: 'COL-243 re-parented', references: (other: KubeObject) => [refTo(other)] },
    { rule: 'COL-244 let go', references: () => null },
  ])('$rule before the owner went: the dependent survives', async ({ references }) => {
    const [owner, other] = [await rig.create(configMap, 'owner'), await rig.create(configMap, 'other')];
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.patch(secret, 'd', { ownerReferences: references(other) });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
  });
});

describe('a reference to nothing', () => {
  it('COL-071 takes its object, whenever it is seen', async () => {
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-245 BETTER-15 added to an object, to an owner that went long ago', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner');
    await rig.create(secret, 'd');
    await rig.patch(secret, 'd', { ownerReferences: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-246 beside one to a living owner: it is removed, the object lives', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never'), refTo(owner)] });
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
  });

  it.each([
    { rule: 'COL-240 the right name with another uid', wrong: { uid: '11111111-1111-4111-8111-111111111111' } },
    { rule: 'COL-241 the right uid with another name', wrong: { name: 'other' } },
    { rule: 'COL-241 the right uid with another kind', wrong: { kind: 'Secret' } },
  ])('$rule: the dependent goes, its siblings stay', async ({ wrong }) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'good', { owners: [refTo(owner)] });
    await rig.create(secret, 'bad', { owners: [refTo(owner, wrong)] });
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['good', 'late']);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each([
    { field: 'name', wrong: { name: 'other' } },
    { field: 'kind', wrong: { kind: 'ReplicaSet' } },
    { field: 'apiVersion', wrong: { apiVersion: 'v1', kind: 'ConfigMap' } },
  ])('COL-056 BETTER-5 by editing the $field of a good one', async ({ wrong }) => {
    const owner = await rig.create(deployment, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    expect(rig.recorder.lines).toEqual([]);
    await rig.patch(secret, 'd', { ownerReferences: [refTo(owner, wrong)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-24A of two that name one uid as different kinds takes both', async () => {
    const uid = '22222222-2222-4222-8222-222222222222';
    await rig.create(secret, 'a', { owners: [refToNothing(configMap, 'x', { uid })] });
    await rig.create(secret, 'b', { owners: [refToNothing(pod, 'x', { uid })] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-075 COL-076 two to one missing uid with different names, from one object that is held: they take turns ever more slowly', async () => {
    const uid = '33333333-3333-4333-8333-333333333333';
    const owners = ['x', 'y'].map((name) => refToNothing(configMap, name, { uid }));
    await rig.create(secret, 'd', { owners, finalizers: ['x.io/hold'] });
    await rig.advance(300_000);
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toEqual(expect.any(String));
    expect(rig.recorder.counts['GET']).toBeLessThan(30);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.rest(61_000);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-112 COL-24C COL-119 that can not be resolved keeps its object, and delays no other', async () => {
    const [owner, never] = [await rig.create(configMap, 'owner'), refToNothing(configMap, 'never')];
    const unserved = refToNothing(widget, 'w', { apiVersion: 'nowhere.io/v1', kind: 'Nothing' });
    for (let i = 0; i < 10; i++) await rig.create(secret, `stuck${i}`, { owners: [unserved] });
    await rig.create(secret, 'half', { owners: [never, unserved] });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.settle();
    expect(await rig.names(secret)).not.toContain('d');
    await rig.advance(300_000);
    expect((await rig.names(secret)).length).toBe(11);
    expect(await rig.owners(secret, 'half')).toEqual(['never', 'w']);
    expect(rig.recorder.writes).toHaveLength(1);
  });

  it('COL-118 in a version that is served no more keeps its object', async () => {
    await rig.create(secret, 'd', { owners: [refToNothing(deployment, 'x', { apiVersion: 'extensions/v1beta1' })] });
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
  });

  it('COL-24H COL-160 two to one living uid, one with a wrong name: both go, the object lives', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { name: 'wrong' }), refTo(owner)] });
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual([]);
  });

  it.each([
    [true, false],
    [false, true],
  ])('COL-24G two to one uid, blocking %s and %s: the owner waits', async (first, second) => {
    const owner = await rig.create(configMap, 'owner');
    const owners = [refTo(owner, { block: first }), refTo(owner, { block: second })];
    await rig.create(secret, 'd', { owners, finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['owner']);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });
});

describe('the order of things', () => {
  it('COL-212 COL-070 a dependent that is seen before its owner is kept', async () => {
    const hold: (() => void)[] = [];
    await rig.withoutCollector(async () => {
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'd', { owners: [refTo(owner)] });
      // The list of owners comes last.
      rig.faults.on({ target: /configmaps\?/ }, async (request, next) => {
        await new Promise<void>((go) => hold.push(go));
        return next(request);
      });
    });
    await rig.advance(31_000);
    expect(rig.recorder.counts['GET']).toBeGreaterThan(0);
    for (const go of hold) go();
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-245 a dependent made after its owner went is collected', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('cluster-scoped owners', () => {
  const owners: [string, TestKind][] = [
    ['Namespace', namespace],
    ['PersistentVolume', persistentVolume],
    ['ClusterRole', clusterRole],
    ['ClusterWidget', clusterWidget],
  ];
  it.each(owners)('COL-142 a %s owns objects of every namespace, and cluster-scoped ones', async (_, kind) => {
    const owner = await rig.create(kind, 'owner');
    await rig.create(namespace, 'n2');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.create(secret, 'd', { owners: [refTo(owner)], namespace: 'n2' });
    await rig.create(clusterRole, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    expect(rig.recorder.writes).toEqual([]);
    await rig.delete(kind, 'owner', 'Foreground');
    if (kind === namespace) {
      // Its own finalizer is for the namespace controller, which does not run here.
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'owner' }, spec: { finalizers: [] } };
      await rig.wait(rig.client.update({ ...rig.at(namespace, 'owner'), subresource: 'finalize' }, body));
    }
    await rig.rest();
    expect([await rig.names(secret), await rig.names(secret, 'n2')]).toEqual([[], []]);
    expect([await rig.get(kind, 'owner'), await rig.get(clusterRole, 'd')]).toEqual([undefined, undefined]);
  });
});

describe('events', () => {
  it('COL-203 are never deleted because of references, and never block an owner', async () => {
    const owner = await rig.create(configMap, 'owner');
    const owners = [refTo(owner, { block: true })];
    const body = { involvedObject: { kind: 'ConfigMap', name: 'owner', namespace: 'default' } };
    await rig.create(event, 'e', { owners, body });
    await rig.create(event, 'f', { owners: [refToNothing(configMap, 'never')], body });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    expect(await rig.names(event)).toEqual(['e', 'f']);
  });
});
