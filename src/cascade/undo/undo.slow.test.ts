import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { startCluster, type TestCluster } from '../../testing/testing.ts';
import { RecordStore } from '../record/record-store.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { UndoConflictError } from './run-undo.ts';
import { asRecorded, said, undoWith } from './undo.fixture.ts';

const definition = (group: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

function ownedBy(owner: KubeObject, flags: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion = '', kind = '', metadata } = owner;
  return { apiVersion, kind, name: metadata!.name!, uid: metadata!.uid!, ...flags };
}

const named = (name: string, owners: OwnerReference[] = [], metadata: object = {}): ObjectMeta => ({
  name,
  namespace: 'shop',
  ownerReferences: owners,
  ...metadata,
});

/** A namespace with one of everything that is hard to bring back. Returns the objects as the server has them. */
async function buildShop({ client }: TestCluster): Promise<KubeObject[]> {
  const all: KubeObject[] = [];
  const add = async (object: KubeObject): Promise<KubeObject> => {
    const created = await client.create(object);
    all.push(created);
    return created;
  };
  await add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const widget = await add({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: named('root'),
    spec: { size: 3 },
  });
  all[1] = await client.updateStatus({ ...widget, status: { phase: 'Ready' } });
  const flags = { controller: true, blockOwnerDeletion: true };
  const child = await add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named('child', [ownedBy(widget, flags)]) });
  await add({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: named('both', [ownedBy(widget), ownedBy(child)]),
    data: { pw: 'cHc=' },
  });
  // A cycle: no object in it can be created with all of its references.
  const first = await add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named('cycle-a') });
  const second = await add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named('cycle-b', [ownedBy(first)]) });
  all[all.indexOf(first)] = await client.patch(first, { metadata: { ownerReferences: [ownedBy(second)] } });
  const port = { port: 80, nodePort: 30123, protocol: 'TCP' };
  await add({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named('web'),
    spec: { type: 'NodePort', ports: [port], selector: { app: 'web' } },
  });
  const claim = await add({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: named('data', [], { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      volumeName: 'pv-data',
    },
  });
  await client.patch(
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv-data' } },
    { spec: { claimRef: { namespace: 'shop', name: 'data', uid: claim.metadata!.uid } } },
  );
  await add({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: named('run'),
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
  });
  return all;
}

const volume: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv-data' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: '/data' },
  },
};

async function removeShop(cluster: TestCluster): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  await cluster.client.delete(namespace);
  // kubernetes.io/pvc-protection and the like are removed by their controllers.
  await cluster.settled({ timeoutMs: 20_000, advanceMs: 120_000 });
  expect(await cluster.client.find(namespace)).toBeUndefined();
}

/** The objects as texts that are equal after each restoration. */
async function stateOf({ client }: TestCluster, recorded: readonly RecordedObject[]): Promise<unknown[]> {
  const live = await Promise.all(recorded.map(({ body }) => client.find(withoutUid(body))));
  const byUid = new Map(live.map((object) => [object?.metadata?.uid, object?.metadata?.name]));
  const states = live.map((object) => ({
    kind: object?.kind,
    name: object?.metadata?.name,
    owners: object?.metadata?.ownerReferences
      ?.map(({ uid, ...rest }) => ({ ...rest, uid: byUid.get(uid) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    spec: stable(object?.['spec'] as Record<string, unknown> | undefined),
    data: object?.['data'],
    phase: object?.kind === 'Widget' ? (object['status'] as { phase?: string } | undefined)?.phase : undefined,
  }));
  const kept = await client.get({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv-data' } });
  const { claimRef } = kept['spec'] as { claimRef?: { uid?: string } };
  return [...states, { claimOfVolume: byUid.get(claimRef?.uid) }];
}

const withoutUid = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion: apiVersion!,
  kind: kind!,
  metadata: { name: metadata!.name!, ...(metadata!.namespace === undefined ? {} : { namespace: metadata!.namespace }) },
});

/** A Job's selector and labels carry its uid, which is a new one each time. */
function stable(spec: Record<string, unknown> | undefined): unknown {
  if (spec === undefined || !('completionMode' in spec || 'backoffLimit' in spec)) return spec;
  return { ...spec, selector: undefined, template: undefined };
}

describe('an undo on the embedded server', () => {
  it('CAS-063, CAS-064 and CAS-065 bring a namespace back with owners, status, addresses and volume; a second undo changes nothing', async () => {
    await using cluster = await startCluster({ crds: definition('example.com') });
    const { client } = cluster;
    await client.create(volume);
    const recorded = asRecorded(await buildShop(cluster));
    const before = await stateOf(cluster, recorded);
    await removeShop(cluster);
    const { result } = await undoWith(client.rest, recorded);
    expect(said(result.objects, ({ outcome }) => outcome)).toEqual({
      'Namespace/shop': 'created',
      'Widget/root': 'created',
      'ConfigMap/child': 'created',
      'Secret/both': 'created',
      'ConfigMap/cycle-a': 'created',
      'ConfigMap/cycle-b': 'created',
      'Service/web': 'created',
      'PersistentVolumeClaim/data': 'created',
      'Job/run': 'created',
    });
    expect(result.ownerEdges).toEqual({ total: 5, valid: 5, broken: [] });
    await cluster.settled({ timeoutMs: 20_000 });
    expect(await stateOf(cluster, recorded)).toEqual(before);
    const versions = async () =>
      (await Promise.all(recorded.map(({ body }) => client.get(withoutUid(body))))).map(
        ({ metadata }) => metadata?.resourceVersion,
      );
    const after = await versions();
    const { result: again } = await undoWith(client.rest, recorded);
    expect(again.summary).toEqual({ created: 0, present: 9, left: 0, conflict: 0, failed: 0 });
    expect(again.ownerEdges).toEqual({ total: 5, valid: 5, broken: [] });
    expect(await versions()).toEqual(after);
  });

  it('CAS-063 resumes after a kill at every request, before it is sent and before its answer arrives', async () => {
    await using cluster = await startCluster({ crds: definition('example.com') });
    const { client } = cluster;
    await client.create(volume);
    const recorded = asRecorded(await buildShop(cluster));
    const before = await stateOf(cluster, recorded);
    let kills = 0;
    for (let at = 1, wasKilled = true; wasKilled; at++) {
      wasKilled = false;
      for (const moment of ['beforeSend', 'beforeAnswer'] as const) {
        await removeShop(cluster);
        const killer = killedAt(at, moment);
        await undoWith(client.rest.through(killer.intercept), recorded).catch((error: unknown) => {
          if (!killer.killed) throw error;
        });
        wasKilled ||= killer.killed;
        kills += Number(killer.killed);
        const { result } = await undoWith(client.rest, recorded);
        expect(result.summary, `killed at request ${at}, ${moment}`).toMatchObject({ conflict: 0, failed: 0, left: 0 });
        expect(result.ownerEdges).toEqual({ total: 5, valid: 5, broken: [] });
        expect(await stateOf(cluster, recorded), `killed at request ${at}, ${moment}`).toEqual(before);
      }
    }
    // Discovery, facts, nine creates, a status, a volume, a reference of the cycle and the verification.
    expect(kills).toBeGreaterThan(60);
  });

  it('CAS-064 restores a definition with its objects, and waits until they are served', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const crd = await client.create(definition('later.example.com'));
    await cluster.settled();
    const widget: KubeObject = {
      apiVersion: 'later.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
    };
    const created = await client.create(widget);
    const withStatus = await client.updateStatus({ ...created, status: { phase: 'Ready' } });
    await client.delete(crd);
    await cluster.settled({ timeoutMs: 20_000 });
    expect(await client.find(crd)).toBeUndefined();
    let looks = 0;
    const rest = new Proxy(client.rest, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        if (key !== 'get') return member.bind(target) as unknown;
        return async (...args: Parameters<typeof target.get>) => {
          const live = await target.get(...args);
          if (live.kind !== 'CustomResourceDefinition' || looks++ > 0) return live;
          return {
            ...live,
            status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
          };
        };
      },
    });
    const { result } = await undoWith(rest, asRecorded([crd, withStatus]));
    expect(looks, 'the first look saw a definition without conditions').toBeGreaterThan(1);
    expect(said(result.objects, ({ outcome }) => outcome)).toEqual({
      'CustomResourceDefinition/widgets.later.example.com': 'created',
      'Widget/w': 'created',
    });
    expect(await client.get(widget)).toMatchObject({ status: { phase: 'Ready' } });
  });

  it('CAS-064 gives a Service new addresses when its own are taken, and says so', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30123 }] };
    const service: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec,
    };
    const recorded = await client.create(service);
    await client.delete(recorded);
    await client.create({ ...service, metadata: { name: 'thief', namespace: 'default' } });
    const { result } = await undoWith(client.rest, asRecorded([recorded]));
    expect(result.objects[0]).toMatchObject({ outcome: 'created' });
    expect(result.objects[0]!.notes![0]).toContain('the Service gets new addresses, because one of its own is taken');
    expect(result.objects[0]!.notes![0]).toContain('node port 30123');
  });

  it('CAS-064 has a service-account token signed for the account as it is now', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const account = await client.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'bot', namespace: 'default' },
    });
    const token = await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: {
        name: 'bot-token',
        namespace: 'default',
        annotations: {
          'kubernetes.io/service-account.name': 'bot',
          'kubernetes.io/service-account.uid': account.metadata!.uid!,
        },
      },
      data: { token: 'b2xk' },
    });
    await client.delete(token);
    await client.delete(account);
    await cluster.settled();
    await undoWith(client.rest, asRecorded([token, account]));
    const now = await client.get(withoutUid(account));
    const restored = await client.find(withoutUid(token));
    expect(restored?.metadata?.annotations?.['kubernetes.io/service-account.uid']).toBe(now.metadata!.uid);
    expect((restored?.['data'] as { token?: string } | undefined)?.token).not.toBe('b2xk');
  });

  it('CAS-064 restores finalizers whose owner lives, and keeps a name that was generated', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const recorded = await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        generateName: 'made-',
        namespace: 'default',
        finalizers: ['alive.example.com/x', 'gone.example.com/y'],
      },
    });
    await client.delete(recorded);
    for (const finalizer of recorded.metadata!.finalizers!) await client.removeFinalizer(recorded, finalizer);
    const { plan } = await undoWith(client.rest, asRecorded([recorded]), { finalizers: ['alive.example.com/x'] });
    expect(plan.objects[0]!.notes).toEqual([
      'finalizer gone.example.com/y is left out: nothing was found that serves it',
    ]);
    const restored = await client.get(withoutUid(recorded));
    expect(restored.metadata).toMatchObject({ name: recorded.metadata!.name, finalizers: ['alive.example.com/x'] });
    await client.removeFinalizer(restored, 'alive.example.com/x');
  });

  it('CAS-063 refuses a taken name before anything is created, or lets the object stand in', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const parent: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'parent', namespace: 'default' },
    };
    const owner = await client.create(parent);
    const child = await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'child', namespace: 'default', ownerReferences: [ownedBy(owner)] },
    });
    await client.delete(owner);
    await cluster.settled();
    const other = await client.create(parent);
    const recorded = asRecorded([owner, child]);
    await expect(undoWith(client.rest, recorded)).rejects.toThrow(UndoConflictError);
    expect(await client.find(withoutUid(child))).toBeUndefined();
    const { result } = await undoWith(client.rest, recorded, { onConflict: 'skip' });
    expect(result.summary).toEqual({ created: 1, present: 0, left: 0, conflict: 1, failed: 0 });
    expect(result.ownerEdges).toEqual({ total: 1, valid: 1, broken: [] });
    await cluster.settled();
    expect((await client.get(withoutUid(child))).metadata!.ownerReferences![0]!.uid).toBe(other.metadata!.uid);
  });

  it('CAS-063 brings 10,000 objects back from disk with every owner edge valid, beside a running collector', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubegc-undo-'));
    try {
      await using cluster = await startCluster({ clock: 'real' });
      const { client } = cluster;
      const bodies: KubeObject[] = [];
      const remember = (name: string, owners: KubeObject[]): KubeObject => {
        const metadata = {
          name,
          namespace: 'default',
          uid: systemRandom.uuid(),
          ownerReferences: owners.map((owner) => ownedBy(owner)),
        };
        const body: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { name } };
        bodies.push(body);
        return body;
      };
      const root = remember('root', []);
      for (let i = 0; i < 100; i++) {
        const middle = remember(`m${i}`, [root]);
        for (let j = 0; j < 99; j++) remember(`m${i}-${j}`, [middle, root]);
      }
      const store = new RecordStore({ folder, clock: systemClock, random: systemRandom });
      const header = {
        requester: 'test',
        context: { name: 'test', server: 'in-process' },
        roots: [],
        policy: 'Background',
      };
      const id = await store.write(header, bodies);
      const { result } = await undoWith(client.rest, await store.objects(id), { id });
      expect(result.summary).toEqual({ created: 10_001, present: 0, left: 0, conflict: 0, failed: 0 });
      expect(result.ownerEdges).toEqual({ total: 19_900, valid: 19_900, broken: [] });
      await cluster.settled({ timeoutMs: 120_000 });
      const live = await client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' });
      expect(live).toHaveLength(10_002);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Passes requests on until one at which the process is killed; that request and all later ones fail. */
function killedAt(
  at: number,
  moment: 'beforeSend' | 'beforeAnswer',
): { killed: boolean; readonly intercept: Interceptor } {
  let sent = 0;
  const state = {
    killed: false,
    intercept: (async (request, next) => {
      sent++;
      if (sent < at) return next(request);
      state.killed = true;
      if (sent === at && moment === 'beforeAnswer') await next(request);
      throw new Error('killed');
    }) satisfies Interceptor,
  };
  return state;
}
