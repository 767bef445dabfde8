import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { refuse } from './faults.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { deleteOptionsOf } from './recorder.ts';
import { Rig } from './rig.ts';

/** Section 7: deletion in foreground. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting();
});
afterEach(() => rig.stop());

/** Named config maps, each owned by the blocking owners given; the last entry closes cycles. */
async function chain(
  ...links: readonly (readonly [name: string, ...owners: string[]])[]
): Promise<Map<string, KubeObject>> {
  const objects = new Map<string, KubeObject>();
  for (const [name, ...owners] of links) {
    const references = owners.map((owner) => refTo(objects.get(owner) ?? {}, { block: true }));
    objects.set(name, await rig.create(configMap, name, { owners: references }));
  }
  return objects;
}

/** Lets `dependent` refer to `owner`, which was made after it. */
async function close(objects: Map<string, KubeObject>, dependent: string, owner: string): Promise<void> {
  await rig.patch(configMap, dependent, { ownerReferences: [refTo(objects.get(owner) ?? {}, { block: true })] });
}

describe('an owner that waits', () => {
  it('COL-101 goes at once when nothing blocks it', async () => {
    await rig.create(configMap, 'a');
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    expect(rig.recorder.counts).toEqual({ PATCH: 1 });
  });

  it('COL-102 COL-103 waits while a blocking dependent is held, without being retried, and goes after it', async () => {
    const a = await rig.create(configMap, 'a');
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.create(secret, 'free', { owners: [refTo(a, { block: true })] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([['a'], ['held']]);
    rig.recorder.clear();
    await rig.advance(300_000);
    expect(rig.recorder.lines).toEqual([]);
    await rig.patch(secret, 'held', { finalizers: null });
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], []]);
  });

  it.each([
    { change: 'turned off', references: (a: KubeObject) => [refTo(a, { block: false })] },
    { change: 'removed', references: () => null },
  ])('COL-054 COL-103 goes when the blocking reference is $change', async ({ references }) => {
    const a = await rig.create(configMap, 'a');
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    await rig.patch(secret, 'held', { ownerReferences: references(a) });
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], ['held']]);
  });

  it('COL-100 COL-104 does not wait for dependents that do not block, which are deleted all the same', async () => {
    const a = await rig.create(configMap, 'a');
    for (const [name, block] of [
      ['false', false],
      ['absent', undefined],
    ] as const) {
      const owners = [refTo(a, block === undefined ? {} : { block })];
      await rig.create(secret, name, { owners, finalizers: ['x.io/hold'] });
    }
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    for (const name of ['false', 'absent']) {
      expect((await rig.get(secret, name))?.metadata?.deletionTimestamp).toEqual(expect.any(String));
    }
  });

  it('COL-108 lets its dependents go before its other finalizers', async () => {
    const a = await rig.create(configMap, 'a', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(a, { block: true })] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect((await rig.get(configMap, 'a'))?.metadata?.finalizers).toEqual(['x.io/hold']);
  });

  it('COL-109 COL-102 waits for a blocking dependent that came later, too', async () => {
    const a = await rig.create(configMap, 'a');
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    await rig.create(secret, 'late', { owners: [refTo(a, { block: true })] });
    await rig.create(secret, 'late-free', { owners: [refTo(a)] });
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['held', 'late', 'late-free']);
    await rig.patch(secret, 'held', { finalizers: null });
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], []]);
    const order = rig.recorder.writes.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
    expect(order.indexOf('DELETE late')).toBeLessThan(order.indexOf('PATCH a'));
    expect(order.indexOf('DELETE late-free')).toBeGreaterThan(order.indexOf('PATCH a'));
  });

  it('COL-101 goes though its own watch shows nothing, and somebody else has written it meanwhile', async () => {
    const a = await rig.create(configMap, 'a', { finalizers: ['x.io/other'] });
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    await rig.patch(configMap, 'a', { labels: { turn: 'one' } });
    await rig.patch(secret, 'held', { finalizers: null });
    await rig.advance(5000);
    expect((await rig.get(configMap, 'a'))?.metadata?.finalizers).toEqual(['x.io/other']);
  });

  it('COL-10B does not wait for what the collector can not see', async () => {
    const a = await rig.create(configMap, 'a');
    rig.faults.on({ target: /\/secrets\?/ }, refuse(403, 'Forbidden'));
    await rig.withoutCollector(async () => {
      await rig.create(secret, 'unseen', { owners: [refTo(a, { block: true })] });
    });
    await rig.advance(30_000);
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.advance(1000);
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], ['unseen']]);
  });
});

describe('dependents of several owners', () => {
  it('COL-105 a dependent with a solid owner loses its reference to the one that waits, which then goes', async () => {
    const a = await rig.create(configMap, 'a');
    const solid = await rig.create(configMap, 'solid');
    await rig.create(secret, 'd', { owners: [refTo(a, { block: true }), refTo(solid)] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['solid']);
    expect(await rig.owners(secret, 'd')).toEqual(['solid']);
  });

  it('COL-106 an owner that terminates without the finalizer is solid', async () => {
    const a = await rig.create(configMap, 'a');
    const held = await rig.create(configMap, 'held', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(a, { block: true }), refTo(held)] });
    await rig.delete(configMap, 'held');
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['held']);
  });

  it('COL-107 a diamond goes as a whole', async () => {
    await chain(['a'], ['b', 'a'], ['c', 'a'], ['d', 'b', 'c']);
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-097 COL-090 row 14: an inner node is deleted in foreground, a leaf in background', async () => {
    await chain(['a'], ['b', 'a'], ['c', 'b']);
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    const policies = rig.recorder.writes
      .filter(({ method }) => method === 'DELETE')
      .map((call) => [call.path.split('/').at(-1), deleteOptionsOf(call).propagationPolicy]);
    expect(policies).toEqual([
      ['b', 'Foreground'],
      ['c', 'Background'],
    ]);
  });

  it('COL-10A a reference to a waiting owner, added to an object with a solid one, is removed when the owner is processed again', async () => {
    const a = await rig.create(configMap, 'a');
    const solid = await rig.create(configMap, 'solid');
    await rig.create(secret, 'held', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(solid)] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    await rig.patch(secret, 'd', { ownerReferences: [refTo(solid), refTo(a, { block: true })] });
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['solid', 'a']);
    await rig.patch(secret, 'held', { finalizers: null });
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['solid']);
    expect(await rig.names(configMap)).toEqual(['solid']);
  });
});

describe('circles', () => {
  it.each([
    { members: 2, links: [['a'], ['b', 'a']] as const, last: 'b' },
    { members: 3, links: [['a'], ['b', 'a'], ['c', 'b']] as const, last: 'c' },
  ])('COL-10C COL-090 row 13: of $members members go as a whole', async ({ links, last }) => {
    const objects = await chain(...links);
    await close(objects, 'a', last);
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-10C COL-24G whose members refer to each other twice go as a whole', async () => {
    const objects = await chain(['a'], ['b', 'a']);
    const [a, b] = [objects.get('a') ?? {}, objects.get('b') ?? {}];
    await rig.patch(configMap, 'b', { ownerReferences: [refTo(a), refTo(a, { block: true })] });
    await rig.patch(configMap, 'a', { ownerReferences: [refTo(b), refTo(b, { block: true })] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-10D BETTER-10 an object that blocks itself goes', async () => {
    const objects = await chain(['a']);
    await close(objects, 'a', 'a');
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it.each(['Background', 'Foreground', 'Orphan'] as const)(
    'COL-10E below an owner deleted with %s survive, without the reference to it',
    async (policy) => {
      const objects = await chain(['a'], ['b', 'a'], ['c', 'b']);
      const [a, c] = [objects.get('a') ?? {}, objects.get('c') ?? {}];
      const ownerReferences = [refTo(a, { block: true }), refTo(c, { block: true })];
      await rig.patch(configMap, 'b', { ownerReferences });
      await rig.delete(configMap, 'a', policy);
      await rig.rest();
      expect(await rig.names(configMap)).toEqual(['b', 'c']);
      expect(await rig.owners(configMap, 'b')).toEqual(['c']);
    },
  );

  it('COL-24D without an owner outside stay until a member is deleted', async () => {
    const objects = await chain(['a'], ['b', 'a']);
    await close(objects, 'a', 'b');
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.names(configMap)).toEqual(['a', 'b']);
    expect(rig.recorder.lines).toEqual([]);
    await rig.delete(configMap, 'b');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });
});

describe('a change of mind', () => {
  /** a waits for d, which is held and terminates already. */
  async function waiting(): Promise<void> {
    const a = await rig.create(configMap, 'a');
    const d = await rig.create(configMap, 'd', { owners: [refTo(a, { block: true })], finalizers: ['x.io/hold'] });
    await rig.create(configMap, 'e', { owners: [refTo(d, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['a', 'd', 'e']);
    rig.recorder.clear();
  }

  it('COL-10F Background lets the owner go at once; its dependents go on alone', async () => {
    await waiting();
    await rig.delete(configMap, 'a', 'Background');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['d', 'e']);
    for (const name of ['d', 'e']) await rig.patch(configMap, name, { finalizers: null });
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-10F Orphan takes the references of dependents even if these terminate, and the owner goes', async () => {
    await waiting();
    await rig.delete(configMap, 'a', 'Orphan');
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['d', 'e']);
    expect(await rig.owners(configMap, 'd')).toEqual([]);
    expect((await rig.get(configMap, 'd'))?.metadata?.deletionTimestamp).toEqual(expect.any(String));
  });

  it('COL-10G somebody who removes the finalizer by hand lets the owner go', async () => {
    await waiting();
    await rig.patch(configMap, 'a', { finalizers: null });
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['d', 'e']);
    for (const name of ['d', 'e']) await rig.patch(configMap, name, { finalizers: null });
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('COL-063 COL-062 Foreground after Background begins to wait now', async () => {
    const a = await rig.create(configMap, 'a', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(a, { block: true })] });
    await rig.delete(configMap, 'a', 'Background');
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(configMap, 'a', 'Foreground');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect((await rig.get(configMap, 'a'))?.metadata?.finalizers).toEqual(['x.io/hold']);
  });

  it('COL-063 COL-061 Orphan after Background orphans now', async () => {
    const a = await rig.create(configMap, 'a', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(a)] });
    await rig.delete(configMap, 'a', 'Background');
    await rig.rest();
    await rig.delete(configMap, 'a', 'Orphan');
    await rig.rest();
    await rig.patch(configMap, 'a', { finalizers: null });
    await rig.rest();
    expect([await rig.names(configMap), await rig.owners(secret, 'd')]).toEqual([[], []]);
  });
});
