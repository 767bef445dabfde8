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
      /expected Secret default\/dependent to be collected\nfound: it is being deleted since .*; finalizers: example\.com\/cleanup; owners: ConfigMap\/owner\nwhat happened to it:\n[^]*garbage-collector-controller  Secret default\/dependent is being deleted \(waits for finalizer example\.com\/cleanup\) \| None of its owners exists\./,
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

  it('ask for the cluster of an object of unknown origin', async () => {
    await expect(expect(dependent).toBeCollected()).rejects.toThrow('name the cluster, as in toBeCollected(cluster)');
    await expect(expect({}).toBeCollected()).rejects.toThrow('needs apiVersion, kind and a name');
  });
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
