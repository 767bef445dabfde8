import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { configMap, deployment, pod, refTo, replicaSet, secret, type TestKind, widget } from './kinds.ts';
import { type Policy, Rig } from './rig.ts';

/** How many calls large cascades cost: one DELETE an object, because its precondition proves the references (BETTER-9). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting();
});
afterEach(() => rig.stop());

async function several(count: number, kind: TestKind, owners: readonly KubeObject[]): Promise<KubeObject[]> {
  const made: KubeObject[] = [];
  for (let i = 0; i < count; i++) {
    const owner = owners[i % owners.length]!;
    made.push(
      await rig.create(kind, `${kind.kind.toLowerCase()}-${i}`, {
        owners: [refTo(owner, { block: true, controller: true })],
      }),
    );
  }
  return made;
}

const levels = [replicaSet, pod] as const;

describe('BETTER-9 a cascade of a thousand objects on three levels', () => {
  it.each<{ policy: Policy; expected: Record<string, number> }>([
    // 40 ReplicaSets and 960 Pods.
    { policy: 'Background', expected: { DELETE: 1000 } },
    // The ReplicaSets wait for their Pods, and the Deployment for the ReplicaSets: one patch each, for the finalizer.
    { policy: 'Foreground', expected: { DELETE: 1000, PATCH: 41 } },
  ])('COL-175 COL-098 costs one DELETE an object ($policy)', async ({ policy, expected }) => {
    const root = await rig.create(deployment, 'root');
    const sets = await several(40, levels[0], [root]);
    await several(960, levels[1], sets);
    rig.recorder.clear();
    await rig.delete(deployment, 'root', policy);
    await rig.rest(300_000);
    expect([await rig.names(deployment), await rig.names(replicaSet)]).toEqual([[], []]);
    const running = await rig.wait(rig.client.list<KubeObject>({ gvr: pod.gvr, namespace: 'default' }));
    expect(running.items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)).toEqual([]);
    expect(rig.recorder.counts).toEqual(expected);
    expect(rig.recorder.calls.every(({ status }) => status === 200)).toBe(true);
  });

  it('COL-175 of a hundred and fifty owners that die together, with four dependents each, the same', async () => {
    const owners: KubeObject[] = [];
    for (let i = 0; i < 150; i++) owners.push(await rig.create(configMap, `o${i}`));
    await several(600, secret, owners);
    rig.recorder.clear();
    await rig.wait(
      Promise.all(owners.map(({ metadata }) => rig.client.delete(rig.at(configMap, metadata?.name ?? '')))),
    );
    await rig.rest(300_000);
    expect([await rig.names(secret), rig.recorder.counts]).toEqual([[], { DELETE: 600 }]);
  });

  it('COL-175 BETTER-18 of custom resources the same', async () => {
    rig.serve(widget);
    await rig.advance(31_000);
    const owner = await rig.create(widget, 'owner');
    await several(200, { ...widget }, [owner]);
    rig.recorder.clear();
    await rig.delete(widget, 'owner', 'Foreground');
    await rig.rest(300_000);
    expect([await rig.names(widget), rig.recorder.counts]).toEqual([[], { DELETE: 200, PATCH: 1 }]);
  });
});
