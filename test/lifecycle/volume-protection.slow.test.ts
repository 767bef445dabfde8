import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClaimProtectionController } from '../../src/lifecycle/volume-protection/claim-protection-controller.ts';
import { VolumeProtectionController } from '../../src/lifecycle/volume-protection/volume-protection-controller.ts';
import { answer, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';

const claims = gvrOf('persistentvolumeclaims');
const volumes = gvrOf('persistentvolumes');
const namespace = 'default';
const merge = 'application/merge-patch+json';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.run((environment) => new ClaimProtectionController(environment));
  await cluster.run((environment) => new VolumeProtectionController(environment));
});
afterEach(() => cluster.stop());

const finalizersOf = async (gvr: typeof claims, name: string) =>
  (await cluster.get({ gvr, name, ...(gvr === claims ? { namespace } : {}) }))?.metadata?.finalizers;
const isProtected = (gvr: typeof claims, name: string) => async () => (await finalizersOf(gvr, name))?.length === 1;

async function claim(name: string, inNamespace = namespace): Promise<void> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await cluster.create({ gvr: claims, namespace: inNamespace }, { metadata: { name }, spec });
  const ref = { gvr: claims, namespace: inNamespace, name };
  await cluster.until(async () => (await cluster.get(ref))?.metadata?.finalizers?.length === 1);
}

const pod = (name: string, claimName: string, nodeName?: string) =>
  cluster.create(
    { gvr: pods, namespace },
    {
      metadata: { name },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    },
  );
const remove = (gvr: typeof claims, name: string) =>
  cluster.wait(
    cluster.client.delete({ gvr, name, ...(gvr === volumes ? {} : { namespace }) }, { gracePeriodSeconds: 0 }),
  );
const isGone =
  (name: string, inNamespace = namespace) =>
  async () =>
    (await cluster.get({ gvr: claims, namespace: inNamespace, name })) === undefined;

describe('claims', () => {
  it('LIFE-151 LIFE-152 go at once when nobody uses them', async () => {
    await claim('c');
    await pod('waiting', 'c');
    await remove(claims, 'c');
    await cluster.until(isGone('c'));
  });

  it('LIFE-151 go although only lists showed their last pod, whose events a relist swallowed', async () => {
    await claim('c');
    let shown = 0;
    cluster.fault = (request, next) => {
      // The second list follows the first list of the watch.
      if (request.target !== '/api/v1/namespaces/default/pods' || shown++ > 1) return next(request);
      const volumesOfPod = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
      const spec = { nodeName: 'n', containers: [], volumes: volumesOfPod };
      const items = [{ metadata: { name: 'brief', namespace }, spec, status: {} }];
      const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
      return Promise.resolve(answer(200, list));
    };
    await remove(claims, 'c');
    await cluster.until(isGone('c'), { withinMs: 120_000 });
    expect(shown).toBe(3);
  });

  it('LIFE-151 LIFE-154 wait for the last pod that uses them, and nobody looks meanwhile', async () => {
    await claim('c');
    await claim('other');
    await pod('one', 'c', 'node');
    await pod('two', 'c', 'node');
    await pod('stranger', 'other', 'node');
    await remove(claims, 'c');
    await cluster.clock.advanceAsync(1000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(60_000);
    expect(cluster.requests).toEqual([]);
    await remove(pods, 'one');
    await cluster.clock.advanceAsync(1000);
    expect(await finalizersOf(claims, 'c')).toEqual(['kubernetes.io/pvc-protection']);
    await remove(pods, 'two');
    await cluster.until(isGone('c'));
    expect(await finalizersOf(claims, 'other')).toEqual(['kubernetes.io/pvc-protection']);
  });

  it('LIFE-153 whose pods cannot be read are tried again alone, and stay meanwhile', async () => {
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'other' } });
    await claim('c');
    await claim('c', 'other');
    let refusals = 0;
    cluster.fault = (request, next) => {
      if (!request.target.startsWith('/api/v1/namespaces/default/pods')) return next(request);
      refusals++;
      return Promise.resolve(answer(500, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 }));
    };
    await remove(claims, 'c');
    await cluster.wait(cluster.client.delete({ gvr: claims, namespace: 'other', name: 'c' }));
    await cluster.until(isGone('c', 'other'));
    await cluster.clock.advanceAsync(60_000);
    expect(refusals).toBeGreaterThan(2);
    expect(await finalizersOf(claims, 'c')).toEqual(['kubernetes.io/pvc-protection']);
    cluster.fault = (request, next) => next(request);
    await cluster.until(isGone('c'), { withinMs: 120_000 });
  });

  it('LIFE-151 of the same name, made again, are protected again', async () => {
    await claim('c');
    await pod('one', 'c', 'node');
    await remove(claims, 'c');
    await remove(pods, 'one');
    await cluster.until(isGone('c'));
    await claim('c');
  });
});

describe('claims of finished pods', () => {
  const finish = (name: string, phase: string) =>
    cluster.wait(
      cluster.client.patch(
        { gvr: pods, namespace, name, subresource: 'status' },
        { type: merge, body: { status: { phase } } },
      ),
    );

  it('LIFE-152 stay by default', async () => {
    await claim('c');
    await pod('one', 'c', 'node');
    await finish('one', 'Succeeded');
    await remove(claims, 'c');
    await cluster.clock.advanceAsync(60_000);
    expect(await finalizersOf(claims, 'c')).toEqual(['kubernetes.io/pvc-protection']);
  });

  it('LIFE-155 go by option, when the last unfinished pod has finished', async () => {
    await cluster.stop();
    cluster = await EmbeddedCluster.start();
    await cluster.run((environment) => new ClaimProtectionController({ ...environment, ignoreFinishedPods: true }));
    await claim('c');
    await pod('one', 'c', 'node');
    await pod('two', 'c', 'node');
    await finish('one', 'Failed');
    await remove(claims, 'c');
    await cluster.clock.advanceAsync(60_000);
    expect(await finalizersOf(claims, 'c')).toEqual(['kubernetes.io/pvc-protection']);
    await finish('two', 'Succeeded');
    await cluster.until(isGone('c'));
  });
});

describe('volumes', () => {
  it('LIFE-150 that are bound wait until they are not', async () => {
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
    await cluster.create({ gvr: volumes }, { metadata: { name: 'v' }, spec });
    await cluster.until(isProtected(volumes, 'v'));
    const phase = (text: string) =>
      cluster.wait(
        cluster.client.patch(
          { gvr: volumes, name: 'v', subresource: 'status' },
          { type: merge, body: { status: { phase: text } } },
        ),
      );
    await phase('Bound');
    await remove(volumes, 'v');
    await cluster.clock.advanceAsync(5000);
    expect(await finalizersOf(volumes, 'v')).toEqual(['kubernetes.io/pv-protection']);
    await phase('Released');
    await cluster.until(async () => (await cluster.get({ gvr: volumes, name: 'v' })) === undefined);
  });
});
