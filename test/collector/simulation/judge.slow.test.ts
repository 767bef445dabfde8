import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logs/logger.ts';
import type { ResourceRef } from '../../../src/client/rest/resource-path.ts';
import { RestClient } from '../../../src/client/rest/rest-client.ts';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { configMap, refTo, secret, widget } from '../kinds.ts';
import { Clients } from './clients.ts';
import type { ClientStep, Plan, VersionName } from './plan.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

/** A collector that does what it must not, so that the judge has something to find. */
let cluster: SimulatedCluster;
let clients: Clients;
let rogue: RestClient;

beforeEach(async () => {
  await begin([]);
});

async function begin(collectors: Plan['collectors'], steps: Plan['steps'] = []): Promise<void> {
  const plan = { seed: 1, kinds: ['ConfigMap', 'Secret', 'Widget'], latency: { oneIn: 0, maxMs: 0 } } as const;
  cluster = new SimulatedCluster({ ...plan, collectors, steps, end: 'rest' }, silentLogger);
  await cluster.start();
  clients = new Clients(cluster.client);
  rogue = new RestClient({ transport: cluster.transport, clock: cluster.clock, userAgent: 'collector' });
  await act({ do: 'create', at: 'ConfigMap/default/owner' });
  await act({ do: 'create', at: 'Secret/default/owned', owners: [{ at: 'ConfigMap/default/owner' }] });
}

afterEach(() => cluster.stop());

const at = { gvr: secret.gvr, namespace: 'default', name: 'owned' };
const act = async (step: ClientStep): Promise<void> => {
  expect(await cluster.wait(clients.do(step))).toBe('done');
};
const owned = (): Promise<KubeObject> => cluster.wait(cluster.client.get(at));
const patch = async (metadata: object): Promise<void> => {
  const uid = (await owned()).metadata?.uid;
  const body = { metadata: { uid, ...metadata } };
  await cluster.wait(rogue.patch(at, { type: 'application/merge-patch+json', body }));
};
/** A client to which the server has reported a version that reads options in a query, or one that may not. */
const rogueTold = async (says: VersionName): Promise<RestClient> => {
  const client = new RestClient({ transport: cluster.connect({ says }), clock: cluster.clock, userAgent: 'collector' });
  await cluster.wait(client.request({ method: 'GET', path: '/version' }).catch(() => {}));
  return client;
};
const removeByQuery = async (client: RestClient, options: object, ref: ResourceRef = at): Promise<void> => {
  await cluster.wait(client.deleted(ref, { propagationPolicy: 'Background', ...options }, { optionsIn: 'query' }));
};
const remove = async (policy: 'Background' | 'Foreground' | 'Orphan' = 'Background'): Promise<void> => {
  const { uid = '', resourceVersion = '' } = (await owned()).metadata ?? {};
  await cluster.wait(rogue.delete(at, { propagationPolicy: policy, preconditions: { uid, resourceVersion } }));
};

describe('the judge finds', () => {
  it.each(['Background', 'Foreground'] as const)(
    'COL-002 what the collector deletes although its owner lives (%s)',
    async (policy) => {
      await remove(policy);
      expect(cluster.judge.wrong[0]).toContain('exists and never waited');
    },
  );

  it('COL-001 what the collector deletes without an owner', async () => {
    await act({ do: 'refer', at: 'Secret/default/owned', owners: [] });
    await remove();
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('was deleted without an owner')]);
  });

  it('COL-150 a write without a precondition', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    await cluster.wait(rogue.delete(at, {}));
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a write without precondition: DELETE')]);
  });

  it('COL-150 a delete of any version', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const { uid = '' } = (await owned()).metadata ?? {};
    await cluster.wait(rogue.delete(at, { propagationPolicy: 'Background', preconditions: { uid } }));
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a delete of any version')]);
  });

  it('COL-150 a delete without a precondition in its query', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    await removeByQuery(await rogueTold('1.36'), {});
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a write without precondition: DELETE')]);
  });

  it('COL-150 a delete of any version by its query', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const { uid = '' } = (await owned()).metadata ?? {};
    await removeByQuery(await rogueTold('1.36'), { preconditions: { uid } });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a delete of any version')]);
  });

  it('API-240 a delete whose body has no precondition, whatever its query says', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const { uid = '', resourceVersion = '' } = (await owned()).metadata ?? {};
    const client = await rogueTold('1.36');
    const path = `/api/v1/namespaces/default/secrets/owned?uid=${uid}&resourceVersion=${resourceVersion}`;
    const body = Buffer.from('{"kind":"DeleteOptions","apiVersion":"v1"}');
    await cluster.wait(client.request({ method: 'DELETE', path, body }));
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a write without precondition: DELETE')]);
  });

  it.each(['1.19', 'nothing', 'forbidden'] as const)(
    'COL-150 options in the query for a server that may not read them: /version says %s',
    async (says) => {
      await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
      const { uid = '', resourceVersion = '' } = (await owned()).metadata ?? {};
      await removeByQuery(await rogueTold(says), { preconditions: { uid, resourceVersion } });
      expect(cluster.judge.wrong).toEqual([expect.stringContaining('options in a query that may not be read')]);
    },
  );

  it('COL-150 options in the query before the server has reported its version', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const { uid = '', resourceVersion = '' } = (await owned()).metadata ?? {};
    const transport = cluster.connect({ says: '1.36', refusals: 1 });
    const client = new RestClient({ transport, clock: cluster.clock, userAgent: 'collector' });
    await removeByQuery(client, { preconditions: { uid, resourceVersion } });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('options in a query that may not be read')]);
  });

  it('COL-150 options in the query for a custom resource, which an extension server may serve', async () => {
    await act({ do: 'create', at: 'Widget/default/w', owners: [{ at: 'ConfigMap/default/owner' }] });
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const ref = { ...at, gvr: widget.gvr, name: 'w' };
    const { uid = '', resourceVersion = '' } = (await cluster.wait(cluster.client.get<KubeObject>(ref))).metadata ?? {};
    await removeByQuery(await rogueTold('1.36'), { preconditions: { uid, resourceVersion } }, ref);
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('options in a query that may not be read')]);
  });

  it('COL-003 a write that is neither a delete nor a patch', async () => {
    await cluster.wait(rogue.update(at, await owned()));
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('a write that no collector makes: PUT')]);
  });

  it('COL-095 what is deleted again with another policy', async () => {
    await act({ do: 'hold', at: 'Secret/default/owned' });
    await act({ do: 'delete', at: 'Secret/default/owned', policy: 'Background' });
    await remove('Foreground');
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('got the finalizer foregroundDeletion')]);
  });

  it.each([
    ['Background', 'orphan'],
    ['Foreground', undefined],
  ] as const)('COL-24E another policy than the finalizers ask for: %s with %s', async (policy, finalizer) => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
    const body = { metadata: { finalizers: finalizer === undefined ? [] : [finalizer] } };
    await cluster.wait(cluster.client.patch(at, { type: 'application/merge-patch+json', body }));
    await remove(policy);
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('another policy than its finalizers ask for')]);
  });

  it.each([
    ['is new', { uid: 'x', name: 'x' }],
    ['blocks', { blockOwnerDeletion: true }],
    ['is said not to block although nobody waits', { blockOwnerDeletion: false }],
  ])('COL-123 COL-162 a reference of the collector that %s', async (_, change) => {
    const [reference] = (await owned()).metadata?.ownerReferences ?? [];
    const block = { do: 'refer', at: 'Secret/default/owned', owners: [{ at: 'ConfigMap/default/owner', block: true }] };
    if ('blockOwnerDeletion' in change && !change.blockOwnerDeletion) await act(block as ClientStep);
    await patch({
      ownerReferences: 'uid' in change ? [reference, { ...reference, ...change }] : [{ ...reference, ...change }],
    });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('got a reference that it did not have')]);
  });

  it('COL-120 a reference to a living owner that the collector removes', async () => {
    await patch({ ownerReferences: null });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('lost its reference to ConfigMap default/owner')]);
  });

  it.each(['finalizers', 'labels'] as const)('a change that the collector may not make: %s', async (field) => {
    await act({ do: 'hold', at: 'Secret/default/owned' });
    await patch(field === 'finalizers' ? { finalizers: null } : { labels: { a: 'b' } });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining(field.slice(0, -1))]);
  });

  it.each([
    ['COL-101', 'Foreground', 'was not gone yet'],
    ['COL-122', 'Orphan', 'was not released yet'],
  ] as const)('%s an owner that is let go before its dependents (%s)', async (_, policy, found) => {
    await act({ do: 'create', at: 'ConfigMap/default/d', owners: [{ at: 'ConfigMap/default/owner', block: true }] });
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy });
    const owner = { gvr: configMap.gvr, namespace: 'default', name: 'owner' };
    const { metadata } = await cluster.wait(cluster.client.get(owner));
    const body = { metadata: { uid: metadata?.uid, finalizers: null } };
    await cluster.wait(rogue.patch(owner, { type: 'application/merge-patch+json', body }));
    expect(new Set(cluster.judge.wrong.map((wrong) => wrong.includes(found)))).toEqual(new Set([true]));
  });

  it('COL-127 an owner that is released before a dependent of another kind, unless its barrier gave up', async () => {
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Orphan' });
    const owner = { gvr: configMap.gvr, namespace: 'default', name: 'owner' };
    const { metadata } = await cluster.wait(cluster.client.get(owner));
    const body = { metadata: { uid: metadata?.uid, finalizers: null } };
    await cluster.wait(rogue.patch(owner, { type: 'application/merge-patch+json', body }));
    expect(cluster.judge.leftBehind).toEqual([expect.stringContaining('Secret default/owned')]);
    cluster.judge.barrierGaveUp(metadata?.uid ?? '');
    expect([cluster.judge.leftBehind, cluster.judge.wrong]).toEqual([[], []]);
  });

  it.each<[string, ClientStep, string[]]>([
    [
      'an owner that is gone',
      { do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' },
      ['has no owner left'],
    ],
    [
      'a reference beside a living owner',
      {
        do: 'refer',
        at: 'Secret/default/owned',
        owners: [{ at: 'ConfigMap/default/owner' }, { at: 'ConfigMap/default/x' }],
      },
      ['has a reference to nothing beside a living owner'],
    ],
    [
      'a finalizer',
      { do: 'delete', at: 'ConfigMap/default/owner', policy: 'Orphan' },
      ['is still terminating (orphan)', 'still has the finalizer orphan'],
    ],
  ])('COL-001 what is left: %s', async (_, step, found) => {
    expect(cluster.judge.leftovers()).toEqual([]);
    await act(step);
    expect(cluster.judge.leftovers()).toEqual(found.map((text) => expect.stringContaining(text)));
  });
});

describe('COL-136 BETTER-15 of an owner whose kind is not served any more the judge', () => {
  it.each([
    { what: 'finds what depends on one that was seen to go', knownMs: 6000, found: ['has no owner left'] },
    { what: 'excuses what depends on one that nobody need have seen', knownMs: 0, found: [] },
  ])('$what', async ({ knownMs, found }) => {
    await cluster.stop();
    const define = { do: 'define', kind: 'Gadget' } as const;
    await begin([], [define]);
    await act(define);
    await cluster.clock.advanceAsync(knownMs);
    await act({ do: 'create', at: 'Gadget/default/owner' });
    await act({ do: 'refer', at: 'Secret/default/owned', owners: [{ at: 'Gadget/default/owner' }] });
    await act({ do: 'delete', at: 'Gadget/default/owner', policy: 'Background' });
    await act({ do: 'undefine', kind: 'Gadget' });
    await cluster.clock.advanceAsync(1000);
    expect(cluster.isServed('Gadget')).toBe(false);
    expect(cluster.judge.leftovers()).toEqual(found.map((text) => expect.stringContaining(text)));
  });
});

describe('COL-106 of an owner that changed its mind the judge', () => {
  /** The owner waits for its dependents, and then does not any more, a while ago. */
  async function changesItsMind(): Promise<void> {
    await act({ do: 'hold', at: 'ConfigMap/default/owner' });
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Foreground' });
    const ref = { ...at, gvr: configMap.gvr, name: 'owner' };
    const { metadata } = await cluster.wait(cluster.client.get(ref));
    const finalizers = (metadata?.finalizers ?? []).filter((name) => name !== 'foregroundDeletion');
    const body = { metadata: { finalizers } };
    await cluster.wait(cluster.client.patch(ref, { type: 'application/merge-patch+json', body }));
    await cluster.clock.advanceAsync(1000);
  }

  it.each([
    ['finds what is deleted all the same', () => remove(), 'exists and does not wait any more'],
    ['finds what is let go all the same', () => patch({ ownerReferences: null }), 'exists and does not wait any more'],
  ])('%s, where nothing takes time', async (_, does, found) => {
    await cluster.stop();
    await begin([{ role: 'always', workers: 1, encoding: 'json' }]);
    await changesItsMind();
    await does();
    expect(cluster.judge.wrong[0]).toContain(found);
  });

  it('accepts both, where events may be late', async () => {
    await changesItsMind();
    await patch({ ownerReferences: null });
    expect(cluster.judge.wrong).toEqual([]);
  });

  it.each([
    ['finds what is deleted later than any news comes', () => remove()],
    ['finds what is let go later than any news comes', () => patch({ ownerReferences: null })],
  ])('%s', async (_, does) => {
    await changesItsMind();
    await cluster.clock.advanceAsync(60_000);
    await does();
    expect(cluster.judge.wrong[0]).toContain('exists and does not wait any more');
  });

  it('accepts both that late, where a partition may have kept the event away', async () => {
    await cluster.stop();
    await begin([], [{ do: 'partition', collector: 0, ms: 20_000 }]);
    await changesItsMind();
    await cluster.clock.advanceAsync(60_000);
    await patch({ ownerReferences: null });
    expect(cluster.judge.wrong).toEqual([]);
  });
});

describe('designs/0011 of a server that was restored the judge', () => {
  const owner = 'ConfigMap/default/owner';
  const restore = { do: 'restore', awayMs: 1000, bump: false } as const;
  const undo = async (what: () => Promise<void>): Promise<void> => {
    const backup = await cluster.wait(cluster.backUp());
    await what();
    await cluster.restore(backup, restore);
  };

  beforeEach(async () => {
    await cluster.stop();
    await begin([], [restore]);
    await act({ do: 'hold', at: owner });
  });

  it.each([
    ['was gone', async () => act({ do: 'strip', at: owner })],
    ['waited', async () => {}],
    [
      'had ceased to wait',
      async () => {
        const ref = { ...at, gvr: configMap.gvr, name: 'owner' };
        const body = { metadata: { finalizers: ['x.io/hold'] } };
        await cluster.wait(cluster.client.patch(ref, { type: 'application/merge-patch+json', body }));
      },
    ],
  ])('COL-002 COL-120 finds what is deleted, or let go, although its owner lives again, which %s', async (_, then) => {
    await undo(async () => {
      await act({ do: 'delete', at: owner, policy: 'Foreground' });
      await then();
    });
    expect(cluster.judge.wrong).toEqual([]);
    expect(cluster.judge.tookBack).toBe(true);
    await patch({ ownerReferences: null });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('lost its reference to ConfigMap default/owner')]);
    await act({ do: 'refer', at: 'Secret/default/owned', owners: [{ at: owner }] });
    await remove();
    expect(cluster.judge.wrong[1]).toContain('was deleted although its owner ConfigMap default/owner');
  });

  it('COL-002 COL-120 finds a dependent that is orphaned although its owner does not orphan any more', async () => {
    await undo(() => act({ do: 'delete', at: owner, policy: 'Orphan' }));
    await patch({ ownerReferences: null });
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('does not wait any more')]);
  });

  it('COL-001 accepts the end of what had an owner that waited when the backup was made', async () => {
    await act({ do: 'delete', at: owner, policy: 'Foreground' });
    await undo(() => act({ do: 'strip', at: owner }));
    expect(cluster.judge.tookBack).toBe(false);
    await remove();
    expect(cluster.judge.wrong).toEqual([]);
  });

  it('COL-001 COL-002 knows who refers to whom as it was, also when the backup is restored twice', async () => {
    const backup = await cluster.wait(cluster.backUp());
    for (let times = 0; times < 2; times++) {
      await act({ do: 'refer', at: 'Secret/default/owned', owners: [] });
      await cluster.restore(backup, restore);
      expect([...cluster.judge.objects.values()].map(({ metadata }) => metadata.ownerReferences?.length)).toContain(1);
    }
    await act({ do: 'label', at: 'Secret/default/owned', value: 'a' });
    await remove();
    expect(cluster.judge.wrong).toEqual([expect.stringContaining('exists and never waited')]);
  });

  it('COL-055 has somebody count as terminating who was, for a while, and nobody else', async () => {
    const uid = (await cluster.wait(cluster.client.get<KubeObject>({ ...at, gvr: configMap.gvr, name: 'owner' })))
      .metadata?.uid;
    await undo(() => act({ do: 'delete', at: owner, policy: 'Foreground' }));
    expect(cluster.judge.wasTerminating(uid ?? '')).toBe(true);
    expect(cluster.judge.wasTerminating((await owned()).metadata?.uid ?? '')).toBe(false);
    await cluster.clock.advanceAsync(5 * 60_000);
    expect(cluster.judge.wasTerminating(uid ?? '')).toBe(false);
  });
});

describe('the judge accepts', () => {
  it.each(['1.20', '1.36'] as const)(
    'COL-150 a delete with both preconditions in its query, where the server is of version %s',
    async (says) => {
      await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Background' });
      const { uid = '', resourceVersion = '' } = (await owned()).metadata ?? {};
      await removeByQuery(await rogueTold(says), { preconditions: { uid, resourceVersion } });
      expect(cluster.judge.wrong).toEqual([]);
      expect([...cluster.judge.requests.optionsSeenIn]).toEqual(['query']);
      await expect(owned()).rejects.toThrow('not found');
    },
  );

  it('every write of a client', async () => {
    await act({ do: 'hold', at: 'Secret/default/owned' });
    await act({ do: 'strip', at: 'Secret/default/owned' });
    await act({ do: 'deleteAll', kind: 'Secret', namespace: 'default', policy: 'Foreground' });
    expect(cluster.judge.wrong).toEqual([]);
  });

  it('COL-001 the end of what has no owner any more, and of a reference to what waits', async () => {
    const owner = await cluster.wait(cluster.client.get({ ...at, gvr: configMap.gvr, name: 'owner' }));
    await act({ do: 'delete', at: 'ConfigMap/default/owner', policy: 'Foreground' });
    await patch({ ownerReferences: null });
    await cluster.wait(
      cluster.client.patch(at, {
        type: 'application/merge-patch+json',
        body: { metadata: { ownerReferences: [refTo(owner)] } },
      }),
    );
    await remove();
    expect(cluster.judge.wrong).toEqual([]);
  });
});
