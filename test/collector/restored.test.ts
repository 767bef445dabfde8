import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backup } from './backup.ts';
import { refuse } from './faults.ts';
import { holdIntake } from './hold.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** A server whose backup was restored: objects are again as they were, with the same uids (designs/0011). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting();
});
afterEach(() => rig.stop());

const HOLD = 'x.io/hold';

describe('an object that is not being deleted any more', () => {
  it('COL-055 COL-001 goes with its owner like any other', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)], finalizers: [HOLD] });
    const restore = await backup(rig, secret, 'd');
    await rig.delete(secret, 'd');
    await rig.rest();
    await restore();
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
  });

  it('COL-055 COL-062 is waited for again, and deleted, by an owner that waits', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })], finalizers: [HOLD] });
    const restore = await backup(rig, secret, 'd');
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    await restore();
    await rig.rest();
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
    expect(await rig.names(configMap)).toEqual(['owner']);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], []]);
  });

  it('COL-002 COL-106 keeps its dependents, with the finalizer that it had before anybody deleted it', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['foregroundDeletion', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    await restore();
    const other = await rig.create(configMap, 'other');
    await rig.create(secret, 'd', { owners: [refTo(owner), refTo(other)] });
    await rig.delete(configMap, 'other');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['foregroundDeletion', HOLD]);
  });

  it('COL-002 COL-122 does not let its dependents go, though it has the finalizer for it', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['orphan', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // Letting them go fails, and is to be tried again.
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(403, 'Forbidden'), 1);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    await restore();
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan', HOLD]);
  });
});

describe('a restored server, before the collector has seen all of it', () => {
  /** What the collector is shown of ConfigMaps waits; the others go on. */
  async function blind(): Promise<() => void> {
    const back = holdIntake(rig, /\/configmaps\?/);
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    return back;
  }

  it.each([
    { policy: 'Background', block: false },
    { policy: 'Foreground', block: true },
  ] as const)(
    'COL-002 COL-055 deletes nothing whose owner lives again, with $policy before',
    async ({ policy, block }) => {
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'd', { owners: [refTo(owner, { block })], finalizers: [HOLD] });
      const restoreOwner = await backup(rig, configMap, 'owner');
      const restoreDependent = await backup(rig, secret, 'd');
      await rig.delete(configMap, 'owner', policy);
      await rig.rest();
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
      const back = await blind();
      await restoreOwner();
      await restoreDependent();
      await rig.advance(5000);
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeUndefined();
      back();
      await rig.advance(60_000);
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeUndefined();
      expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    },
  );

  it('COL-002 COL-111 asks for an owner that it knows to be gone, while watches fail', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const restore = await backup(rig, configMap, 'owner');
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(500, 'InternalError'));
    await rig.delete(configMap, 'owner');
    await rig.advance(5000);
    rig.faults.clear();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    await restore();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    rig.faults.clear();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-002 COL-122 lets no dependent of a living owner go when it tries again', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['orphan', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(503, 'ServiceUnavailable'), 1);
    const back = holdIntake(rig, /\/configmaps\?/);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    rig.streams.cut(/\/configmaps\?/);
    await restore();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    back();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
  });
});
