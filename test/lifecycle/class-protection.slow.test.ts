import { afterEach, beforeEach, expect, it } from 'vitest';
import { newStatusError } from '../../src/api/status-error.ts';
import { ClassProtectionController } from '../../src/lifecycle/volume-protection/class-protection-controller.ts';
import { answer, EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const classes = gvrOf('volumeattributesclasses', 'storage.k8s.io');
const claims = gvrOf('persistentvolumeclaims');
const volumes = gvrOf('persistentvolumes');
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.runShared((context) => new ClassProtectionController(context));
  await cluster.create({ gvr: classes }, { metadata: { name: 'gold' }, driverName: 'd', parameters: { iops: '9' } });
});
afterEach(() => cluster.stop());

const remove = (gvr: typeof classes, name: string, namespace?: string) =>
  cluster.wait(cluster.client.delete({ gvr, name, ...(namespace === undefined ? {} : { namespace }) }));
const gold = () => cluster.get({ gvr: classes, name: 'gold' });
const isGone = async () => (await gold()) === undefined;
const isLeaving = async () => (await gold())?.metadata?.deletionTimestamp !== undefined;

async function claim(name: string): Promise<void> {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    volumeAttributesClassName: 'gold',
  };
  await cluster.create({ gvr: claims, namespace: 'default' }, { metadata: { name }, spec });
}
/** Deletes a claim, whose own protection nobody serves here. */
async function dropClaim(name: string): Promise<void> {
  const body = { metadata: { finalizers: null } };
  const target = { gvr: claims, namespace: 'default', name };
  await cluster.wait(cluster.client.patch(target, { type: 'application/merge-patch+json', body }));
  await remove(claims, name, 'default');
}

it('LIFE-157 a class gets the finalizer when it is created, and goes at once when nothing names it', async () => {
  expect((await gold())?.metadata?.finalizers).toEqual(['kubernetes.io/vac-protection']);
  await remove(classes, 'gold');
  await cluster.until(isGone);
});

it('LIFE-157 a class stays until the last claim and the last volume that name it are gone', async () => {
  await claim('one');
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'd', volumeHandle: 'h' },
    volumeAttributesClassName: 'gold',
  };
  await cluster.create({ gvr: volumes }, { metadata: { name: 'v' }, spec });
  await remove(classes, 'gold');
  await cluster.until(isLeaving);
  await dropClaim('one');
  await cluster.clock.settle();
  expect((await gold())?.metadata?.finalizers).toEqual(['kubernetes.io/vac-protection']);
  const body = { metadata: { finalizers: null } };
  await cluster.wait(cluster.client.patch({ gvr: volumes, name: 'v' }, { type: 'application/merge-patch+json', body }));
  await remove(volumes, 'v');
  await cluster.until(isGone);
});

it('LIFE-157 a class stays while the server does not answer who names it', async () => {
  let refused = 0;
  cluster.fault = (request, next) => {
    if (request.target !== '/api/v1/persistentvolumeclaims') return next(request);
    refused++;
    return Promise.reject(newStatusError(500, 'no list'));
  };
  await remove(classes, 'gold');
  await cluster.until(() => Promise.resolve(refused > 0));
  expect(await isLeaving()).toBe(true);
  cluster.fault = (request, next) => next(request);
  await cluster.until(isGone);
});

it('LIFE-157 a class is processed when a claim no longer names it, and not when another part of the claim changes', async () => {
  const processed = () => cluster.metrics.value('workqueue_adds_total', { name: 'vacprotection' }) ?? 0;
  await claim('one');
  await cluster.clock.settle();
  const before = processed();
  const body = { metadata: { labels: { changed: 'yes' } } };
  const target = { gvr: claims, namespace: 'default', name: 'one' };
  await cluster.wait(cluster.client.patch(target, { type: 'application/merge-patch+json', body }));
  await cluster.clock.settle();
  expect(processed()).toBe(before);
  await dropClaim('one');
  await cluster.clock.settle();
  expect(processed()).toBe(before + 1);
});

it('LIFE-157 a class goes although only a live read showed its last user, whose events a relist swallowed', async () => {
  let shown = 0;
  cluster.fault = (request, next) => {
    if (request.target !== '/api/v1/persistentvolumeclaims' || shown++ > 0) return next(request);
    const items = [{ metadata: { name: 'brief', namespace: 'default' }, spec: { volumeAttributesClassName: 'gold' } }];
    const list = { kind: 'PersistentVolumeClaimList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
    return Promise.resolve(answer(200, list));
  };
  await remove(classes, 'gold');
  await cluster.until(isGone, { withinMs: 120_000 });
  expect(shown).toBe(2);
});
