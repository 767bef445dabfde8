import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { startCluster, type TestCluster } from '../../testing/testing.ts';
import { configMap, observe, ownedBy, widgetDefinition } from '../observed/observation.fixture.ts';
import { planRelink } from '../relink/plan-relink.ts';
import { runRelink } from '../relink/run-relink.ts';
import { lintCluster } from './lint-cluster.ts';
import { lintCodes } from './lint-codes.ts';
import { lintManifests } from './lint-manifests.ts';

const FIVE_MINUTES = { olderThanMs: 300_000 };

/** Codes that a test of this file has met in a cluster. */
const met = new Set<string>();

/** Codes by object, for the objects in the namespaces of the test. */
async function codes({ client, clock }: TestCluster): Promise<Record<string, string[]>> {
  const { findings } = lintCluster(
    await observe(client.rest, { ...systemClock, now: () => clock.now() }),
    FIVE_MINUTES,
  );
  const found: Record<string, string[]> = {};
  for (const { ref, code, message, fix } of findings) {
    (found[ref?.name ?? ''] ??= []).push(code);
    expect([code, message]).not.toContain('');
    // Nothing is to be mended where the kind of an owner could not be read.
    expect([code, fix === undefined]).toEqual([code, code === 'ownerUnknown']);
    met.add(code);
  }
  return found;
}

const stale = (name: string, uid = `uid-of-${name}`) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid });

describe('lint of a cluster', () => {
  it('CAS-040 names each kind of wrong reference, and finds nothing once each fix is done', async () => {
    await using cluster = await startCluster({ controllers: [], crds: widgetDefinition('example.com') });
    const { client } = cluster;
    const owner = await client.create(configMap('owner'));
    const other = await client.create(configMap('other', [], { namespace: 'kube-public' }));
    const widget = await client.create({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'widget', namespace: 'default' },
    });
    expect(await codes(cluster)).toEqual({});

    const dangling = await client.create(configMap('dangling', [ownedBy(owner), stale('nobody')]));
    const deleted = await client.create(configMap('deleted-now', [stale('nobody')]));
    const staleUid = await client.create(configMap('stale', [stale('owner')]));
    const elsewhere = await client.create(configMap('elsewhere', [ownedBy(owner), ownedBy(other)]));
    const identity = await client.create(
      configMap('identity', [ownedBy(owner), { ...ownedBy(widget), name: 'wrong' }]),
    );
    const clusterScoped = await client.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'cluster-scoped', ownerReferences: [ownedBy(owner)] },
      rules: [],
    });
    const version = await client.create(configMap('version', [{ ...ownedBy(widget), apiVersion: 'example.com/v0' }]));
    const kind = await client.create(configMap('kind', [{ ...ownedBy(widget), apiVersion: 'gone.example.com/v1' }]));
    const twice = await client.create(
      configMap('twice', [ownedBy(owner), { ...ownedBy(owner), blockOwnerDeletion: true }]),
    );
    const self = await client.create(configMap('self'));
    await client.patch(self, { metadata: { ownerReferences: [ownedBy(self)] } });
    const first = await client.create(configMap('cycle-a'));
    const second = await client.create(configMap('cycle-b', [ownedBy(first)]));
    await client.patch(first, { metadata: { ownerReferences: [ownedBy(second)] } });
    expect(await codes(cluster)).toEqual({
      dangling: ['danglingOwner'],
      'deleted-now': ['danglingOwner', 'deletedNow'],
      stale: ['deletedNow', 'staleOwnerUid'],
      elsewhere: ['crossNamespaceOwner'],
      identity: ['ownerIdentity'],
      'cluster-scoped': ['namespacedOwner'],
      version: ['ownerKindNotServed'],
      kind: ['ownerKindNotServed'],
      twice: ['duplicateOwner'],
      self: ['selfOwner'],
      'cycle-a': ['ownerCycle'],
    });

    // Findings that relink may repair come first: it is the fix that lint names.
    const relink = planRelink(await observe(client.rest, systemClock));
    expect(relink.objects.map(({ ref }) => ref.name)).toEqual(['stale']);
    await runRelink(client.rest, relink);
    const fixes: [typeof owner, object[]][] = [
      [dangling, [ownedBy(owner)]],
      [deleted, []],
      [elsewhere, [ownedBy(owner)]],
      [identity, [ownedBy(owner), ownedBy(widget)]],
      [clusterScoped, []],
      [version, [ownedBy(widget)]],
      [kind, []],
      [twice, [ownedBy(owner)]],
      [self, []],
      [first, []],
    ];
    for (const [object, ownerReferences] of fixes) await client.patch(object, { metadata: { ownerReferences } });
    expect(await codes(cluster)).toEqual({});
    expect(staleUid.metadata!.uid).toBeDefined();
  });

  it('CAS-040 says truly what a collector that starts would delete now', async () => {
    await using before = await startCluster({ controllers: [] });
    for (const object of [
      configMap('gone', [stale('nobody')]),
      configMap('kept', [{ ...stale('x'), kind: 'Unserved' }]),
    ]) {
      await before.client.create(object);
    }
    expect(await codes(before)).toEqual({ gone: ['danglingOwner', 'deletedNow'], kept: ['ownerKindNotServed'] });
    await using cluster = await startCluster();
    const gone = await cluster.client.create(configMap('gone', [stale('nobody')]));
    const kept = await cluster.client.create(configMap('kept', [{ ...stale('x'), kind: 'Unserved' }]));
    await cluster.settled({ advanceMs: 60_000 });
    expect(await cluster.client.find(gone)).toBeUndefined();
    expect(await cluster.client.find(kept)).toBeDefined();
  });

  it('CAS-040 reports objects that have been terminating for longer than the given time', async () => {
    await using cluster = await startCluster();
    const { client, clock } = cluster;
    const held = await client.create(configMap('held', [], { finalizers: ['example.com/x'] }));
    await client.delete(held);
    await clock.advance(240_000);
    expect(await codes(cluster)).toEqual({});
    await clock.advance(120_000);
    expect(await codes(cluster)).toEqual({ held: ['terminatingLong'] });
    const { findings } = lintCluster(
      await observe(client.rest, { ...systemClock, now: () => clock.now() }),
      FIVE_MINUTES,
    );
    expect(findings).toMatchObject([
      { code: 'terminatingLong', message: 'it has been terminating for 6m; finalizers: example.com/x' },
    ]);
    await client.removeFinalizer(held, 'example.com/x');
    expect(await client.find(held)).toBeUndefined();
    expect(await codes(cluster)).toEqual({});
  });

  it('CAS-040 does not say that an owner is absent when its kind could not be read', async () => {
    await using cluster = await startCluster({ controllers: [], crds: widgetDefinition('example.com') });
    const { client } = cluster;
    await client.create(configMap('child', [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' }]));
    const allow = cluster.faults.add({
      match: { verb: 'list', resource: 'widgets' },
      answer: { status: 403, reason: 'Forbidden' },
    });
    const report = lintCluster(await observe(client.rest, systemClock), FIVE_MINUTES);
    expect(report.incomplete?.map(({ resource }) => resource)).toEqual(['widgets.example.com']);
    expect(report.findings.map(({ code }) => code)).toEqual(['ownerUnknown']);
    expect(await codes(cluster)).toEqual({ child: ['ownerUnknown'] });
    allow();
    expect(await codes(cluster)).toEqual({ child: ['danglingOwner', 'deletedNow'] });
  });

  it('CAS-040 CAS-041 every code was met above in a cluster, or is one of a manifest, which a server would refuse or complete', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', controller: true };
    const references = [owner, { ...owner, uid: 'v', blockOwnerDeletion: true }, { ...owner, uid: '' }];
    const { findings } = lintManifests([configMap('a', references)], {
      kindOf: () => ({ resource: 'configmaps', namespaced: true }),
      now: 0,
    });
    const ofManifests = ['blockOwnerDeletionRight', 'missingOwnerField', 'twoControllers', 'uidInManifest'];
    expect([...new Set(findings.map(({ code }) => code))].toSorted()).toEqual(ofManifests);
    expect(
      Object.keys(lintCodes)
        .filter((code) => !met.has(code))
        .toSorted(),
    ).toEqual(ofManifests);
  });
});
