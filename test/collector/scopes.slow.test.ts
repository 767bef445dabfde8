import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { answerWith } from './faults.ts';
import { clusterRole, configMap, event, namespace, refTo, refToNothing, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** References across namespaces and scopes, and the Event that reports them. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting();
  await rig.create(namespace, 'n2');
});
afterEach(() => rig.stop());

async function events(): Promise<KubeObject[]> {
  const list = await rig.wait(
    rig.client.list({ gvr: event.gvr }, { query: { fieldSelector: 'reason=OwnerRefInvalidNamespace' } }),
  );
  return list.items;
}

describe('a reference into another namespace', () => {
  it('COL-140 is one to an owner that is missing in its own: the dependent goes, the real owner and its own stay', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'good', { owners: [refTo(owner)] });
    await rig.create(secret, 'bad', { owners: [refTo(owner)], namespace: 'n2' });
    await rig.rest();
    expect([await rig.names(secret), await rig.names(secret, 'n2')]).toEqual([['good'], []]);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each(['bad first', 'good first'])(
    'COL-140 COL-07A COL-212 at a start, whatever is listed first (%s)',
    async (order) => {
      await rig.withoutCollector(async () => {
        const owner = await rig.create(configMap, 'owner');
        const make = async (name: string, where: string) => {
          await rig.create(secret, name, { owners: [refTo(owner)], namespace: where });
        };
        if (order === 'bad first') await make('bad', 'n2');
        await make('good', 'default');
        if (order === 'good first') await make('bad', 'n2');
      });
      await rig.rest();
      expect([await rig.names(secret), await rig.names(secret, 'n2')]).toEqual([['good'], []]);
      await rig.delete(configMap, 'owner', 'Foreground');
      await rig.rest();
      expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], []]);
    },
  );

  it('COL-140 with a solid owner beside it is only removed', async () => {
    const [far, near] = [await rig.create(configMap, 'far'), await rig.create(configMap, 'near', { namespace: 'n2' })];
    await rig.create(secret, 'd', { owners: [refTo(far), refTo(near)], namespace: 'n2' });
    await rig.rest();
    expect(await rig.owners(secret, 'd', 'n2')).toEqual(['near']);
  });

  it('COL-144 COL-147 is reported in an Event, field by field', async () => {
    const owner = await rig.create(configMap, 'owner');
    const d = await rig.create(secret, 'd', { owners: [refTo(owner)], namespace: 'n2' });
    await rig.rest();
    const [told, ...more] = await events();
    expect(more).toEqual([]);
    const { metadata, ...fields } = told ?? {};
    const time = '2026-01-01T00:00:00Z';
    expect(fields).toMatchObject({
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [v1/ConfigMap, namespace: n2, name: owner, uid: ${owner.metadata?.uid}] does not exist in namespace "n2"`,
      source: { component: 'garbage-collector-controller' },
      reportingComponent: 'garbage-collector-controller',
      reportingInstance: '',
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    });
    expect(fields['involvedObject']).toEqual({
      kind: 'Secret',
      namespace: 'n2',
      name: 'd',
      uid: d.metadata?.uid,
      apiVersion: 'v1',
    });
    expect(metadata?.namespace).toBe('n2');
    expect(metadata?.name).toMatch(/^d\.[0-9a-f]+$/);
    const nanoseconds = BigInt(`0x${metadata?.name?.split('.')[1] ?? ''}`);
    expect(Number(nanoseconds / 1_000_000n)).toBe(rig.clock.now());
  });

  it('COL-145 the same again counts the Event up with a PATCH', async () => {
    const owner = await rig.create(configMap, 'owner');
    const d = await rig.create(secret, 'd', { owners: [refTo(owner)], namespace: 'n2', finalizers: ['x.io/hold'] });
    await rig.rest();
    expect(d.metadata?.uid).toBeDefined();
    for (const references of [null, [refTo(owner)]])
      await rig.patch(secret, 'd', { ownerReferences: references }, 'n2');
    await rig.rest();
    const [told, ...more] = await events();
    expect([told?.['count'], more]).toEqual([2, []]);
    const written = rig.recorder.calls.filter(({ path }) => path.includes('/events'));
    expect(written.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it('COL-143 is reported when the owner is observed after its dependent, too', async () => {
    await rig.withoutCollector(async () => {
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'd', { owners: [refTo(owner)], namespace: 'n2', finalizers: ['x.io/hold'] });
    });
    await rig.rest();
    expect((await events()).map(({ metadata }) => metadata?.namespace)).toEqual(['n2']);
  });

  it.each([
    { what: 'a missing owner', reference: () => refToNothing(configMap, 'never') },
    { what: 'a wrong name', reference: (owner: KubeObject) => refTo(owner, { name: 'wrong' }) },
  ])('COL-143 $what is no reason for an Event', async ({ reference }) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [reference(owner)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect(await events()).toEqual([]);
  });

  it('COL-146 an Event that is refused delays nothing, and is not tried again', async () => {
    rig.faults.on({ target: /events/ }, answerWith(500, 'no'));
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)], namespace: 'n2' });
    await rig.rest();
    expect(await rig.names(secret, 'n2')).toEqual([]);
    await rig.advance(60_000);
    expect(rig.recorder.calls.filter(({ path }) => path.includes('/events'))).toHaveLength(1);
  });
});

describe('a cluster-scoped dependent of a namespaced owner', () => {
  it.each(['alive', 'missing'] as const)(
    'COL-113 COL-141 stays, its references unchanged (owner %s)',
    async (state) => {
      const owner = await rig.create(configMap, 'owner');
      const reference = state === 'alive' ? refTo(owner) : refToNothing(configMap, 'never');
      await rig.create(clusterRole, 'd', { owners: [reference] });
      await rig.rest();
      await rig.delete(configMap, 'owner');
      await rig.rest();
      await rig.advance(60_000);
      expect(await rig.owners(clusterRole, 'd')).toEqual([reference.name]);
      expect(rig.recorder.writes).toEqual([]);
    },
  );

  it('COL-144 its Event lies in the namespace default, and names no namespace', async () => {
    const owner = await rig.create(configMap, 'owner', { namespace: 'n2' });
    await rig.create(clusterRole, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    const [told] = await events();
    expect(told?.metadata?.namespace).toBe('default');
    expect(told?.['message']).toBe(
      `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: ${owner.metadata?.uid}] does not exist in namespace ""`,
    );
    expect(told?.['involvedObject']).not.toHaveProperty('namespace');
  });

  it('COL-071 COL-092 COL-113 is deleted after its owner, even if the owner was only ever known from this dependent', async () => {
    const owner = await rig.create(configMap, 'owner');
    const waiting: (() => void)[] = [];
    await rig.withoutCollector(async () => {
      const child = await rig.create(clusterRole, 'child', { owners: [refTo(owner)] });
      await rig.create(secret, 'grandchild', { owners: [refTo(child)] });
      rig.faults.on({ target: /clusterroles\?/ }, async (request, next) => {
        await new Promise<void>((go) => waiting.push(go));
        return next(request);
      });
    });
    await rig.advance(40_000);
    expect(await rig.names(secret)).toEqual(['grandchild']);
    await rig.delete(clusterRole, 'child');
    for (const go of waiting) go();
    await rig.rest(70_000);
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each(['cluster first', 'namespaced first'])(
    'COL-24B with a namespaced sibling of one missing owner (%s): that goes, it stays, and nothing is retried for ever',
    async (order) => {
      const reference = refToNothing(configMap, 'never');
      const makers = [
        async () => void (await rig.create(clusterRole, 'c', { owners: [reference] })),
        async () => void (await rig.create(secret, 's', { owners: [reference] })),
      ];
      await rig.withoutCollector(async () => {
        for (const make of order === 'cluster first' ? makers : makers.toReversed()) await make();
      });
      await rig.rest();
      expect(await rig.names(secret)).toEqual([]);
      expect(await rig.owners(clusterRole, 'c')).toEqual(['never']);
      rig.recorder.clear();
      await rig.advance(300_000);
      expect(rig.recorder.lines).toEqual([]);
    },
  );

  it('COL-24I COL-11A BETTER-24 stays, even if a dependent in another namespace is seen first', async () => {
    const owner = await rig.create(configMap, 'owner');
    const references: OwnerReference[] = [refTo(owner)];
    const hold: (() => void)[] = [];
    await rig.withoutCollector(async () => {
      const child = await rig.create(clusterRole, 'child', { owners: references });
      await rig.create(secret, 'grandchild', { owners: [refTo(child)], namespace: 'n2' });
      rig.faults.on({ target: /clusterroles\?/ }, async (request, next) => {
        await new Promise<void>((go) => hold.push(go));
        return next(request);
      });
    });
    await rig.advance(40_000);
    expect(rig.recorder.lines).toContain('GET /apis/rbac.authorization.k8s.io/v1/clusterroles/child 200');
    for (const go of hold) go();
    await rig.rest();
    expect(rig.recorder.writes).toEqual([]);
    expect((await rig.get(clusterRole, 'child'))?.metadata?.ownerReferences).toEqual(references);
    expect(await rig.names(secret, 'n2')).toEqual(['grandchild']);
  });
});
