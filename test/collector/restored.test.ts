import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backup } from './backup.ts';
import { refuse } from './faults.ts';
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
