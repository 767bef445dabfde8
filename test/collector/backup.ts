import type { TestKind } from './kinds.ts';
import type { Rig } from './rig.ts';

/**
 * Remembers the stored state of an object of group "". The returned function restores it, as the restore of a backup does: with the same
 * uid.
 */
export async function backup(rig: Rig, kind: TestKind, name: string): Promise<() => Promise<void>> {
  const key = `/registry/core/${kind.gvr.resource}/default/${name}`;
  const { kv: saved } = await rig.wait(rig.store.get(key));
  if (saved === undefined) throw new Error(`there is no ${key}`);
  return async () => {
    const { kv } = await rig.wait(rig.store.get(key));
    if (kv === undefined) await rig.wait(rig.store.create(key, saved.value));
    else await rig.wait(rig.store.update(key, saved.value, kv.modRevision));
    await rig.settle();
  };
}
