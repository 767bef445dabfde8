import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';

/** The life of a Deployment as a watch shows it: without kubelet and simulator, grace 0. */
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' } };
const manifest = {
  ...deployment,
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'one' }] },
    },
  },
};
interface WithStatus extends KubeObject {
  status: { replicas: number; observedGeneration: number; conditions: { type: string; status: string }[] };
}
const all = <T extends KubeObject = KubeObject>(kind: string): Promise<T[]> =>
  cluster.client.list<T>({ apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1', kind, namespace: 'default' });
const uids = async (kind: string) => (await all(kind)).map(({ metadata }) => metadata?.uid).toSorted();
const start = async () => {
  await cluster.client.create(manifest);
  await cluster.settled();
};
/** Kinds of what was removed since, in order. */
const removals = (from: number) =>
  cluster
    .trace()
    .entries.slice(from)
    .filter(({ kind, what }) => kind === 'write' && what.startsWith('removed'))
    .map(({ object }) => object!.kind);
const reference = ({ kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: kind!,
  name: metadata!.name!,
  uid: metadata!.uid!,
  controller: true,
  blockOwnerDeletion: true,
});

describe('the life of a Deployment', () => {
  it('LIFE-800 created: one ReplicaSet, two pods, one owner reference each and no finalizers', async () => {
    await start();
    const made = await cluster.client.get<WithStatus>(deployment);
    const [set, ...others] = await all<WithStatus>('ReplicaSet');
    expect(others).toEqual([]);
    expect(set!.metadata!.name).toMatch(/^web-[a-z0-9]+$/);
    expect(set!.metadata!.ownerReferences).toEqual([reference({ ...made, kind: 'Deployment' })]);
    expect(set!.metadata!.finalizers).toBeUndefined();
    expect(set!.status).toMatchObject({ replicas: 2, observedGeneration: set!.metadata!.generation });
    const pods = await all<KubeObject & { spec: { nodeName?: string }; status: { phase: string } }>('Pod');
    expect(pods).toHaveLength(2);
    for (const { metadata, spec, status } of pods) {
      expect(metadata!.ownerReferences).toEqual([reference({ ...set!, kind: 'ReplicaSet' })]);
      expect(metadata!.finalizers).toBeUndefined();
      expect(spec.nodeName).toBeUndefined();
      expect(status.phase).toBe('Pending');
    }
    expect(made.status.observedGeneration).toBe(made.metadata!.generation);
    expect(Object.fromEntries(made.status.conditions.map(({ type, status }) => [type, status]))).toEqual({
      Available: 'False',
      Progressing: 'True',
    });
  });

  it.each(['Background', undefined] as const)(
    'LIFE-801 deleted with policy %s: gone at once, then its ReplicaSet, then the pods, and no pod is made meanwhile',
    async (propagationPolicy) => {
      await start();
      const from = cluster.trace().entries.length;
      await cluster.client.delete(deployment, propagationPolicy === undefined ? {} : { propagationPolicy });
      expect(await cluster.client.find(deployment)).toBeUndefined();
      await cluster.settled();
      expect(removals(from)).toEqual(['Deployment', 'ReplicaSet', 'Pod', 'Pod']);
      expect(await all('Pod')).toEqual([]);
      expect(
        cluster
          .trace()
          .entries.slice(from)
          .filter(({ what, object }) => what.startsWith('created') && object?.kind !== 'Event'),
      ).toEqual([]);
    },
  );

  it('LIFE-802 deleted with policy Foreground: waits for its dependents, which go from below', async () => {
    await start();
    const { generation = 0 } = (await cluster.client.get(deployment)).metadata!;
    const from = cluster.trace().entries.length;
    const answer = await cluster.client.delete(deployment, { propagationPolicy: 'Foreground' });
    expect(answer.metadata).toMatchObject({ generation: generation + 1, finalizers: ['foregroundDeletion'] });
    expect(answer.metadata!.deletionTimestamp).toBeDefined();
    await cluster.settled();
    expect(removals(from)).toEqual(['Pod', 'Pod', 'ReplicaSet', 'Deployment']);
    const marked = cluster
      .trace()
      .entries.slice(from)
      .find(({ object, what }) => object?.kind === 'ReplicaSet' && what.startsWith('is being deleted'));
    expect(marked?.after?.metadata?.finalizers).toEqual(['foregroundDeletion']);
    expect(
      cluster
        .trace()
        .entries.slice(from)
        .filter(({ what, object }) => what.startsWith('created') && object?.kind !== 'Event'),
    ).toEqual([]);
  });

  it('LIFE-803 deleted with policy Orphan: only the reference of its ReplicaSet goes, which still keeps two pods', async () => {
    await start();
    const [before] = await all('ReplicaSet');
    const pods = await uids('Pod');
    const from = cluster.trace().entries.length;
    const answer = await cluster.client.delete(deployment, { propagationPolicy: 'Orphan' });
    expect(answer.metadata).toMatchObject({ generation: 2, finalizers: ['orphan'] });
    await cluster.settled();
    await cluster.clock.advance(30_000);
    await cluster.settled();
    expect(await cluster.client.find(deployment)).toBeUndefined();
    const writes = cluster
      .trace()
      .entries.slice(from)
      .filter(({ kind, object }) => kind === 'write' && object?.kind === 'ReplicaSet');
    expect(writes).toHaveLength(1);
    const [after] = await all('ReplicaSet');
    const bare = ({ metadata, ...rest }: KubeObject) => {
      const { ownerReferences: _, resourceVersion: __, managedFields: ___, ...others } = metadata!;
      return { ...rest, metadata: others };
    };
    expect(after!.metadata!.ownerReferences).toBeUndefined();
    expect(bare(after!)).toEqual(bare(before!));
    expect(await uids('Pod')).toEqual(pods);
    await cluster.client.delete((await all('Pod'))[0]!);
    await cluster.settled();
    expect(await all('Pod')).toHaveLength(2);
  });

  it('LIFE-804 LIFE-310 created again: takes the same ReplicaSet and the same pods', async () => {
    await start();
    const [set, pods] = [await uids('ReplicaSet'), await uids('Pod')];
    await cluster.client.delete(deployment, { propagationPolicy: 'Orphan' });
    await cluster.settled();
    await start();
    expect(await uids('ReplicaSet')).toEqual(set);
    expect(await uids('Pod')).toEqual(pods);
    const made = await cluster.client.get(deployment);
    expect((await all('ReplicaSet'))[0]!.metadata!.ownerReferences).toEqual([
      reference({ ...made, kind: 'Deployment' }),
    ]);
  });
});
