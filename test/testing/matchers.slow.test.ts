import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import {
  assertCollected,
  assertHasFinalizer,
  assertHasNoFinalizer,
  assertNotCollected,
  assertNotOwnedBy,
  assertOwnedBy,
  type KubegcMatchers,
  kubegcMatchers,
  startCluster,
  type TestCluster,
} from '../../src/testing/testing.ts';
import { dependent, owner, tree } from './tree.ts';

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-explicit-any -- vitest declares it so
  interface Matchers<T = any> extends KubegcMatchers<T> {}
}
expect.extend(kubegcMatchers);

const finalizer = 'example.com/cleanup';

describe('the matchers', () => {
  it('need no more than an object that came from the client', async () => {
    await using cluster = await startCluster({ objects: tree([finalizer]) });
    const [parent, child] = await Promise.all([cluster.client.get(owner), cluster.client.get(dependent)]);
    await expect(child).toBeOwnedBy(parent);
    await expect(child).toHaveFinalizer(finalizer);
    await expect(child).not.toHaveFinalizer('other');
    await expect(parent).not.toBeOwnedBy(child);
    await cluster.client.delete(parent);
    await expect(child).not.toBeCollected();
    await cluster.client.removeFinalizer(child, finalizer);
    await expect(child).toBeCollected();
    await expect(dependent).toBeCollected(cluster);
  });

  it('mean this very object when they are given one with a uid', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const [parent, child] = await Promise.all([cluster.client.get(owner), cluster.client.get(dependent)]);
    await cluster.client.delete(parent);
    await cluster.settled();
    await cluster.load(tree());
    await expect(child).toBeCollected();
    await expect(dependent).not.toBeCollected(cluster);
    await expect(dependent).toBeOwnedBy(owner, cluster);
    await expect(dependent).not.toBeOwnedBy(parent, cluster);
  });

  it('say what was expected, what is there, and what happened to it', async () => {
    await using cluster = await startCluster({ objects: tree([finalizer]) });
    const child = await cluster.client.get(dependent);
    await cluster.client.delete(owner);
    await expect(expect(child).toBeCollected()).rejects.toThrow(
      /expected Secret default\/dependent to be collected\nfound: it is being deleted since .*; finalizers: example\.com\/cleanup; owners: ConfigMap\/owner\n {7}nobody has removed example\.com\/cleanup; if its operator is still at work, wait for that first: cluster\.settled\(\{ idle: \(\) => operator\.idle \}\)\nwhat happened to it:\n[^]*garbage-collector-controller  Secret default\/dependent is being deleted \(waits for finalizer example\.com\/cleanup\) \| None of its owners exists\./,
    );
    await expect(expect(child).toBeOwnedBy(child)).rejects.toThrow(
      /to be owned by Secret default\/dependent \(uid .*\)\nfound: its owners: ConfigMap\/owner \(uid /,
    );
    await expect(expect(child).toHaveFinalizer('other')).rejects.toThrow(
      /to have finalizer other\nfound: it is being deleted/,
    );
    await cluster.client.removeFinalizer(child, finalizer);
    await expect(expect(child).not.toBeCollected()).rejects.toThrow(/to be there, not collected\nfound: it is gone/);
    await expect(expect(child).toHaveFinalizer('other')).rejects.toThrow('found: it does not exist');
    await expect(expect(child).toBeOwnedBy(owner)).rejects.toThrow('found: it does not exist');
  });

  it('say what waits for time', async () => {
    await using cluster = await startCluster({ objects: tree() });
    cluster.faults.add({ match: { verb: 'delete', name: 'dependent' }, answer: { status: 503 } });
    await cluster.client.delete(owner);
    await expect(expect(dependent).toBeCollected(cluster)).rejects.toThrow(
      /the collector will try something again \(the next timer is due in \d+ ms: cluster\.clock\.advance\)/,
    );
  });

  it('say which requests about the object were refused, or met a fault', async () => {
    await using cluster = await startCluster({ objects: tree([finalizer]) });
    const child = await cluster.client.get(dependent);
    const stale = { metadata: { resourceVersion: '1' } };
    await expect(cluster.client.patch(child, stale)).rejects.toThrow('modified');
    await expect(cluster.client.create(child)).rejects.toThrow('resourceVersion');
    cluster.faults.add({ match: { verb: 'patch' }, times: 1, drop: 'request' });
    await expect(cluster.client.patch(child, stale)).rejects.toThrow('broke');
    const told = await assertCollected(cluster, child).catch(String);
    const path = `/api/v1/namespaces/default/secrets`;
    expect(told).toContain(
      `test     Secret default/dependent refused: PATCH ${path}/dependent: 409 | Operation cannot`,
    );
    expect(told).toContain(`test     Secret default/dependent refused: POST ${path}: 500 | resourceVersion`);
    expect(told).toContain(`test     Secret default/dependent fault: PATCH ${path}/dependent: request lost`);
    const refused = cluster.trace().entries.filter(({ kind }) => kind === 'refused');
    expect(refused.map(({ object }) => object)).toEqual([
      { ...dependent, uid: child.metadata?.uid },
      { ...dependent, uid: child.metadata?.uid },
    ]);
  });

  it('fail, either way, for an object that was never there', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const nope = { ...dependent, name: 'dependant' };
    const told =
      'expected Secret default/dependant to have been there\n' +
      'found: no object of this kind and name was ever there; of this kind there were: Secret default/dependent';
    await expect(expect(nope).toBeCollected(cluster)).rejects.toThrow(told);
    await expect(expect(nope).not.toBeCollected(cluster)).rejects.toThrow(told);
    await expect(expect(nope).not.toHaveFinalizer(finalizer, cluster)).rejects.toThrow(told);
    await expect(expect(nope).not.toBeOwnedBy(owner, cluster)).rejects.toThrow(told);
    await expect(assertHasNoFinalizer(cluster, nope, finalizer)).rejects.toThrow(told);
    await expect(assertNotOwnedBy(cluster, nope, owner)).rejects.toThrow(told);
    await expect(assertCollected(cluster, nope)).rejects.toThrow(told);
    await expect(assertNotCollected(cluster, nope)).rejects.toThrow(AssertionError);
    await expect(assertCollected(cluster, { ...dependent, namespace: 'other' })).rejects.toThrow('was ever there');
    await expect(assertCollected(cluster, { ...dependent, uid: 'another' })).rejects.toThrow('was ever there');
  });

  it('fail for an owner that never was, unless its uid says that it is meant', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const nobody = { ...owner, name: 'ovner' };
    const told =
      'expected ConfigMap default/ovner to have been there\n' +
      'found: no object of this kind and name was ever there; of this kind there were: ConfigMap default/owner';
    await expect(expect(dependent).not.toBeOwnedBy(nobody, cluster)).rejects.toThrow(told);
    await expect(expect(dependent).toBeOwnedBy(nobody, cluster)).rejects.toThrow(told);
    await expect(dependent).not.toBeOwnedBy({ ...nobody, uid: 'another' }, cluster);
    await expect(dependent).toBeOwnedBy({ apiVersion: 'v1', kind: 'ConfigMap', name: owner.name }, cluster);
  });

  it('know objects that came by other ways, and those of before the test', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const gvr = { group: '', version: 'v1', resource: 'secrets' };
    const { apiVersion, kind } = dependent;
    await cluster.client.rest.create({ gvr, namespace: 'default' }, { apiVersion, kind, metadata: { name: 'raw' } });
    await cluster.client.rest.delete({ gvr, namespace: 'default', name: 'raw' });
    await assertCollected(cluster, { apiVersion, kind, name: 'raw' });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'kube-node-lease' };
    await cluster.client.delete(namespace);
    await assertCollected(cluster, namespace);
    await assertCollected(cluster, { ...namespace, namespace: 'default' });
  });

  it('say that an owner of the name is there with another uid', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const { uid } = (await cluster.client.get(owner)).metadata!;
    const { apiVersion, kind, name } = owner;
    const ownerReferences = [{ apiVersion, kind, name, uid: 'wrong' }];
    await cluster.client.create({
      apiVersion,
      kind: 'Secret',
      metadata: { name: 'lost', namespace: 'default', ownerReferences },
    });
    await cluster.settled();
    expect(String(cluster.trace())).toContain(
      `Secret default/lost removed | None of its owners exists. ConfigMap default/owner has uid ${uid}, the reference says wrong.`,
    );
  });

  it('say that the owner is in another namespace, or called otherwise', async () => {
    const other = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } };
    await using cluster = await startCluster({ objects: [tree(), other] });
    const { uid = '' } = (await cluster.client.get(owner)).metadata!;
    const { apiVersion, kind, name } = owner;
    const secret = (namespace: string, reference: object) =>
      cluster.client.create({
        apiVersion,
        kind: 'Secret',
        metadata: { name: 'lost', namespace, ownerReferences: [{ apiVersion, kind, name, uid, ...reference }] },
      });
    const abroad = await secret('other', {});
    await expect(assertNotCollected(cluster, abroad)).rejects.toThrow(
      'None of its owners exists. ConfigMap default/owner has the uid of the reference, but is in another namespace: nobody can be owned from there.',
    );
    const misnamed = await secret('default', { name: 'ovner' });
    await expect(assertNotCollected(cluster, misnamed)).rejects.toThrow(
      'None of its owners exists. ConfigMap default/owner has the uid of the reference, but not its kind and name.',
    );
  });

  it('ask for the cluster of an object of unknown origin', async () => {
    await expect(expect(dependent).toBeCollected()).rejects.toThrow('name the cluster, as in toBeCollected(cluster)');
    const slip = owner as unknown as TestCluster;
    await expect(expect(dependent).toBeCollected(slip)).rejects.toThrow(
      'a cluster is needed, as in toBeCollected(cluster)',
    );
    await expect(expect({}).toBeCollected()).rejects.toThrow('needs apiVersion, kind and a name');
    await expect(expect(undefined).toBeCollected()).rejects.toThrow('to be found, not undefined');
  });
});

it.each([
  [assertCollected, 'assertCollected(cluster, object)'],
  [assertNotCollected, 'assertNotCollected(cluster, object)'],
  [assertOwnedBy, 'assertOwnedBy(cluster, object, owner)'],
  [assertNotOwnedBy, 'assertNotOwnedBy(cluster, object, owner)'],
  [assertHasFinalizer, 'assertHasFinalizer(cluster, object, name)'],
  [assertHasNoFinalizer, 'assertHasNoFinalizer(cluster, object, name)'],
])('the assertions ask for the cluster that they are not given: %o', async (assertion, call) => {
  const forgetful = assertion as unknown as (...given: unknown[]) => Promise<void>;
  const told = expect.objectContaining({
    name: 'TypeError',
    message: expect.stringContaining(`a cluster is needed, as in ${call}, not { apiVersion: 'v1', kind: 'Secret'`),
  });
  await expect(forgetful(dependent, owner)).rejects.toThrow(told);
  await expect(forgetful()).rejects.toThrow(`a cluster is needed, as in ${call}, not undefined`);
});

it('the assertions hold and fail as the matchers do', async () => {
  await using cluster = await startCluster({ objects: tree([finalizer]) });
  await assertOwnedBy(cluster, dependent, owner);
  await assertNotOwnedBy(cluster, owner, dependent);
  await assertHasFinalizer(cluster, dependent, finalizer);
  await assertHasNoFinalizer(cluster, owner, finalizer);
  await assertNotCollected(cluster, dependent);
  for (const wrong of [
    assertCollected(cluster, dependent),
    assertNotOwnedBy(cluster, dependent, owner),
    assertOwnedBy(cluster, owner, dependent),
    assertHasNoFinalizer(cluster, dependent, finalizer),
    assertHasFinalizer(cluster, owner, finalizer),
  ]) {
    await expect(wrong).rejects.toThrow(AssertionError);
  }
  await cluster.client.delete(owner);
  await cluster.client.removeFinalizer(dependent, finalizer);
  await assertCollected(cluster, dependent);
  await expect(assertNotCollected(cluster, dependent)).rejects.toThrow('found: it is gone');
});
