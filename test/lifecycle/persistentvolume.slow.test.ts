import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PersistentVolume } from '../../src/lifecycle/persistentvolume/persistent-volume.ts';
import { PersistentVolumeController } from '../../src/lifecycle/persistentvolume/persistentvolume-controller.ts';
import {
  hostPathDeleter,
  type StorageDeleter,
  VolumeInUseError,
} from '../../src/lifecycle/persistentvolume/storage-deleter.ts';
import { ClaimProtectionController } from '../../src/lifecycle/volume-protection/claim-protection-controller.ts';
import { VolumeProtectionController } from '../../src/lifecycle/volume-protection/volume-protection-controller.ts';
import { answer, EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const claims = gvrOf('persistentvolumeclaims');
const volumes = gvrOf('persistentvolumes');
const events = gvrOf('events');
const namespace = 'default';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const run = async (...deleters: StorageDeleter[]) => {
  await cluster.run((environment) => new ClaimProtectionController(environment));
  await cluster.run((environment) => new VolumeProtectionController(environment));
  await cluster.runShared((context) => new PersistentVolumeController({ ...context, deleters }));
};
const makeVolume = (name: string, over: object = {}, annotations: Record<string, string> = {}) =>
  cluster.create(
    { gvr: volumes },
    {
      metadata: { name, annotations },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: { path: `/tmp/${name}` },
        ...over,
      },
    },
  );
const makeClaim = (name: string, over: object = {}) =>
  cluster.create(
    { gvr: claims, namespace },
    {
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        resources: { requests: { storage: '1Gi' } },
        ...over,
      },
    },
  );
const patchVolume = (body: object) =>
  cluster.wait(cluster.client.patch({ gvr: volumes, name: 'v' }, { type: 'application/merge-patch+json', body }));
const volumeOf = (name: string) => cluster.get({ gvr: volumes, name }) as Promise<PersistentVolume | undefined>;
const phaseOf = async (name: string) => (await volumeOf(name))?.status?.phase;
const claimPhase = async (name: string) =>
  ((await cluster.get({ gvr: claims, namespace, name })) as { status?: { phase?: string } } | undefined)?.status?.phase;
const bound = async (volume: string, claim: string) => {
  await cluster.until(async () => (await phaseOf(volume)) === 'Bound' && (await claimPhase(claim)) === 'Bound');
};
const remove = (gvr: typeof claims, name: string) =>
  cluster.wait(cluster.client.delete({ gvr, name, ...(gvr === volumes ? {} : { namespace }) }));
const reasons = async () =>
  (await cluster.wait(cluster.client.list<{ reason: string }>({ gvr: events }))).items.map(({ reason }) => reason);

/** A stream that ends with a promise. */
async function* until(end: Promise<void>, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([chunks.next(), end]);
    if (next === undefined || next.done === true) break;
    yield next.value;
  }
  await chunks.return?.();
}

describe('a claim and its volume', () => {
  it('LIFE-158 LIFE-132 LIFE-133 are bound, and a retained volume stays Released', async () => {
    await run();
    await makeVolume('v', { persistentVolumeReclaimPolicy: 'Retain' });
    await cluster.until(async () => (await phaseOf('v')) === 'Available');
    await makeClaim('c');
    await bound('v', 'c');
    await remove(claims, 'c');
    await cluster.until(async () => (await phaseOf('v')) === 'Released');
    expect((await volumeOf('v'))?.spec?.claimRef?.name).toBe('c');
  });

  it('LIFE-138 the storage goes first, then the volume', async () => {
    const directory = mkdtempSync('/tmp/kubegc-volume-');
    writeFileSync(join(directory, 'data'), 'x');
    const seen: boolean[] = [];
    await run({
      ...hostPathDeleter,
      delete: async (volume, signal) => {
        seen.push((await volumeOf('v')) !== undefined);
        await hostPathDeleter.delete(volume, signal);
      },
    });
    await makeVolume('v', { hostPath: { path: directory } });
    await makeClaim('c');
    await bound('v', 'c');
    await remove(claims, 'c');
    await cluster.until(async () => (await volumeOf('v')) === undefined);
    expect(seen).toEqual([true]);
    expect(existsSync(directory)).toBe(false);
  });

  it.each([
    ['volume', 'claim'],
    ['claim', 'volume'],
  ])('LIFE-145 LIFE-150 the storage is deleted exactly once when the %s is deleted before the %s', async (first) => {
    let deleted = 0;
    await run({ name: 'kubernetes.io/host-path', delete: async () => void deleted++ });
    const provisioned = { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' };
    await makeVolume('v', {}, provisioned);
    await makeClaim('c');
    await bound('v', 'c');
    const order = first === 'volume' ? [volumes, claims] : [claims, volumes];
    for (const gvr of order) await remove(gvr, gvr === volumes ? 'v' : 'c').catch(() => undefined);
    await cluster.until(async () => (await volumeOf('v')) === undefined);
    expect(deleted).toBe(1);
  });

  it.each(['claim', 'volume'])(
    'LIFE-144 are left to the provisioner that made the volume, when the %s is deleted first',
    async (first) => {
      const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
      const finalizersOf = async () => (await volumeOf('v'))?.metadata?.finalizers ?? [];
      await run();
      await makeVolume('v', { hostPath: undefined, csi: { driver: 'disk.example.com', volumeHandle: '1' } });
      await makeClaim('c');
      await bound('v', 'c');
      // The provisioner marks a bound volume whose policy is Delete.
      const finalizers = [...(await finalizersOf()), finalizer];
      await patchVolume({ metadata: { finalizers } });
      if (first === 'volume') {
        await remove(volumes, 'v');
        await cluster.clock.advanceAsync(60_000);
        expect(await phaseOf('v')).toBe('Bound');
      }
      await remove(claims, 'c');
      await cluster.until(async () => (await phaseOf('v')) === 'Released');
      await cluster.clock.advanceAsync(300_000);
      expect(await finalizersOf()).toContain(finalizer);
      expect(cluster.requests.filter((request) => request.startsWith('DELETE'))).toEqual([]);
      // Only now does it delete the storage, then the object, and takes its finalizer away.
      await remove(volumes, 'v');
      await cluster.until(async () => (await finalizersOf()).length === 1);
      expect(await finalizersOf()).toEqual([finalizer]);
      await patchVolume({ metadata: { finalizers: [] } });
      await cluster.until(async () => (await volumeOf('v')) === undefined);
    },
  );

  it('LIFE-137 a deleter that fails leaves the volume Failed, and is tried again ever later', async () => {
    const calls: number[] = [];
    await run({
      name: 'kubernetes.io/host-path',
      delete: async () => {
        calls.push(cluster.clock.now());
        if (calls.length < 4) throw new Error('disk on fire');
      },
    });
    await makeVolume('v');
    await makeClaim('c');
    await bound('v', 'c');
    await remove(claims, 'c');
    await cluster.until(async () => (await phaseOf('v')) === 'Failed');
    expect((await volumeOf('v'))?.status?.message).toBe('disk on fire');
    await cluster.until(async () => (await volumeOf('v')) === undefined);
    const waits = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    expect(waits.every((wait, index) => wait >= 500 * 2 ** index)).toBe(true);
    expect(calls).toHaveLength(4);
    expect(await reasons()).toContain('VolumeFailedDelete');
  });

  it('LIFE-137 storage in use leaves the phase as it is', async () => {
    let calls = 0;
    await run({
      name: 'kubernetes.io/host-path',
      delete: async () => {
        if (calls++ === 0) throw new VolumeInUseError('in use by a pod');
      },
    });
    await makeVolume('v');
    await makeClaim('c');
    await bound('v', 'c');
    await remove(claims, 'c');
    await cluster.until(async () => calls === 1);
    expect(await phaseOf('v')).toBe('Released');
    await cluster.until(async () => (await volumeOf('v')) === undefined);
  });

  it('LIFE-135 a Delete volume that no plug-in can delete is Failed, and nothing is lost', async () => {
    await run();
    await makeVolume('v');
    await makeClaim('c');
    await bound('v', 'c');
    await remove(claims, 'c');
    await cluster.until(async () => (await phaseOf('v')) === 'Failed');
    expect((await volumeOf('v'))?.status?.message).toContain('no deletable volume plugin matched');
  });

  it('LIFE-143 a claim whose volume is gone is Lost', async () => {
    await run();
    await makeVolume('v');
    await makeClaim('c');
    await bound('v', 'c');
    await remove(volumes, 'v');
    await cluster.wait(
      cluster.client.patch(
        { gvr: volumes, name: 'v' },
        { type: 'application/merge-patch+json', body: { metadata: { finalizers: null } } },
      ),
    );
    await cluster.until(async () => (await claimPhase('c')) === 'Lost');
    await cluster.until(async () => (await reasons()).includes('ClaimLost'));
  });

  it('LIFE-821 a volume is Released when its claim is deleted while the volume is bound to it', async () => {
    await cluster.runShared((context) => new PersistentVolumeController({ ...context, deleters: [] }));
    await makeVolume('v', { persistentVolumeReclaimPolicy: 'Retain' });
    let isDeleted = false;
    cluster.fault = async (request, next) => {
      if (request.method === 'PUT' && request.target.endsWith('/persistentvolumes/v') && !isDeleted) {
        isDeleted = true;
        await cluster.client.delete({ gvr: claims, namespace, name: 'c' });
      }
      return next(request);
    };
    await makeClaim('c');
    await cluster.until(async () => (await phaseOf('v')) === 'Released');
    expect((await volumeOf('v'))?.spec?.claimRef?.name).toBe('c');
  });

  it('LIFE-821 a volume is Released when its claim came and went while no watch showed claims', async () => {
    let breakWatch = (): void => {};
    const broken = new Promise<void>((resolve) => {
      breakWatch = resolve;
    });
    let isBroken = false;
    cluster.fault = async (request, next) => {
      if (!request.target.startsWith('/api/v1/persistentvolumeclaims?')) return next(request);
      if (isBroken) return answer(503, { kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'not now' });
      const response = await next(request);
      const { body } = response;
      return body instanceof Uint8Array ? response : { ...response, body: until(broken, body) };
    };
    await cluster.runShared((context) => new PersistentVolumeController({ ...context, deleters: [] }));
    isBroken = true;
    breakWatch();
    await cluster.clock.settle();
    const { metadata } = await makeClaim('c', { volumeName: 'v' });
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: 'c', uid: metadata?.uid };
    await makeVolume('v', { persistentVolumeReclaimPolicy: 'Retain', claimRef });
    await cluster.until(async () => (await phaseOf('v')) === 'Bound');
    await remove(claims, 'c');
    expect(await claimPhase('c')).toBeUndefined();
    isBroken = false;
    await cluster.until(async () => (await phaseOf('v')) === 'Released', { withinMs: 120_000 });
  });

  it('LIFE-158 two claims for one volume: one gets it, the other waits', async () => {
    await run();
    await makeVolume('v');
    await Promise.all([makeClaim('a'), makeClaim('b')]);
    await cluster.until(async () => (await phaseOf('v')) === 'Bound');
    await cluster.clock.advanceAsync(5000);
    expect([await claimPhase('a'), await claimPhase('b')].sort()).toEqual(['Bound', 'Pending']);
  });

  it('LIFE-011 makes no request while nothing changes', async () => {
    await run();
    await makeVolume('v');
    await makeClaim('c');
    await bound('v', 'c');
    await cluster.clock.advanceAsync(60_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(600_000);
    expect(cluster.requests).toEqual([]);
  });
});

describe('the hostPath deleter', () => {
  it.each(['/etc', '/tmp', '/tmp/', '/tmp/../etc/passwd', ''])('LIFE-137 refuses %j', async (path) => {
    const volume = { spec: { hostPath: { path } } };
    await expect(hostPathDeleter.delete(volume, new AbortController().signal)).rejects.toThrow('only supports /tmp/.+');
  });
});
