import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configMap, namespace, refTo, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** A collector that reports terminating objects and cascades, as `kubegc collect` does. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const linesOf = (message: string) =>
  rig.logger.lines.filter((line) => line.message === message).map(({ fields }) => fields ?? {});
const held = () => linesOf('an object is held while it terminates');
const passed = () => linesOf('a cascade has passed');
const gauge = (name: string, holder: string) => rig.metrics.value(`kubegc_collector_${name}`, { held_by: holder });

describe.each(['withheld', 'allowed'] as const)('terminating objects, writes %s', (writes) => {
  beforeEach(async () => {
    await rig.startCollector({ writes, terminatingObjects: 'reported' });
  });

  it('BETTER-21 are reported with the holder, since when, and who set the finalizer', async () => {
    await rig.create(secret, 'held', { finalizers: ['x.io/hold'] });
    await rig.delete(secret, 'held');
    const since = new Date(Math.floor(rig.clock.now() / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    await rig.advance(20_000);
    expect(held()).toEqual([]);
    await rig.advance(20_000);
    expect(held()).toEqual([
      expect.objectContaining({
        object: 'Secret default/held',
        heldBy: 'finalizers',
        since,
        seconds: 30,
        finalizers: expect.stringMatching(/^x\.io\/hold set by \S+ \(Update at \d{4}-\S+Z\)$/),
      }),
    ]);
    // Once more when it has terminated ten times as long, and not before.
    await rig.advance(200_000);
    expect(held()).toHaveLength(1);
    await rig.advance(200_000);
    expect(held()).toHaveLength(2);
  });

  it('BETTER-21 are reported again when another holder is left', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/owner'] });
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.delete(secret, 'd');
    await rig.advance(40_000);
    expect(held().map(({ object, heldBy, blockedBy }) => [object, heldBy, blockedBy])).toEqual([
      ['ConfigMap default/owner', 'dependents, finalizers', 'Secret default/d'],
      ['Secret default/d', 'finalizers', undefined],
    ]);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.advance(40_000);
    const left = writes === 'allowed' ? 'finalizers' : 'garbageCollector, finalizers';
    expect(held().slice(2)).toEqual([expect.objectContaining({ object: 'ConfigMap default/owner', heldBy: left })]);
  });

  it('BETTER-21 are namespaces that are not empty, with what their conditions say is left', async () => {
    await rig.create(namespace, 'stuck');
    await rig.delete(namespace, 'stuck');
    const read = { status: { conditions: [{ type: 'NamespaceContentRemaining', status: 'True', message: 'pods.' }] } };
    await rig.wait(
      rig.client.patch(
        { ...rig.at(namespace, 'stuck'), subresource: 'status' },
        { type: 'application/merge-patch+json', body: read },
      ),
    );
    await rig.advance(40_000);
    expect(held()).toEqual([
      expect.objectContaining({
        object: 'Namespace stuck',
        heldBy: 'namespaceContent',
        remaining: 'NamespaceContentRemaining: pods.',
      }),
    ]);
    expect(gauge('terminating_objects', 'namespaceContent')).toBe(1);
  });

  it('BETTER-21 are counted by the holder, and the oldest by its deletionTimestamp', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })], finalizers: ['x.io/hold'] });
    await rig.delete(configMap, 'owner', 'Foreground');
    const { metadata } = await rig.delete(secret, 'd');
    await rig.advance(100_000);
    expect(gauge('terminating_objects', 'dependents')).toBe(1);
    expect(gauge('terminating_objects', 'finalizers')).toBe(1);
    expect(gauge('terminating_objects', 'gracePeriod')).toBe(0);
    const age = (rig.clock.now() - Date.parse(metadata?.deletionTimestamp ?? '')) / 1000;
    expect(gauge('oldest_terminating_object_seconds', 'finalizers')).toBe(age);
    expect(gauge('oldest_terminating_object_seconds', 'gracePeriod')).toBe(0);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.advance(1000);
    expect(gauge('terminating_objects', 'finalizers')).toBe(0);
    expect(gauge('oldest_terminating_object_seconds', 'finalizers')).toBe(0);
  });
});

describe('cascades', () => {
  const observe = (): Promise<unknown> => rig.startCollector({ writes: 'withheld', terminatingObjects: 'reported' });

  it('BETTER-21 are one line each, from a collector that only observes another one', async () => {
    await rig.startCollector();
    await observe();
    for (const policy of ['Background', 'Foreground', 'Orphan'] as const) {
      const owner = await rig.create(configMap, policy.toLowerCase());
      const child = await rig.create(configMap, `${policy.toLowerCase()}-child`, { owners: [refTo(owner)] });
      for (const name of ['a', 'b'])
        await rig.create(secret, `${policy.toLowerCase()}-${name}`, { owners: [refTo(child)] });
      await rig.delete(configMap, policy.toLowerCase(), policy);
    }
    await rig.rest();
    expect(passed()).toEqual([]);
    await rig.advance(11_000);
    expect(passed().map(({ root, policy, deleted, orphaned }) => [root, policy, deleted, orphaned])).toEqual([
      ['ConfigMap default/background', 'Background', 3, undefined],
      ['ConfigMap default/foreground', 'Foreground', 3, undefined],
      ['ConfigMap default/orphan', 'Orphan', 0, 1],
    ]);
  });

  it('BETTER-21 are logged when a root that was held is gone', async () => {
    await rig.startCollector({ terminatingObjects: 'reported' });
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.advance(60_000);
    expect(passed()).toEqual([]);
    await rig.patch(configMap, 'owner', { finalizers: null });
    await rig.advance(11_000);
    expect(passed()).toEqual([
      expect.objectContaining({ root: 'ConfigMap default/owner', policy: 'Foreground', deleted: 1, seconds: 60 }),
    ]);
  });

  it('BETTER-21 count the objects that go with their namespace', async () => {
    await rig.startCollector({ writes: 'withheld', terminatingObjects: 'reported' });
    await rig.create(namespace, 'shop');
    for (const name of ['a', 'b']) await rig.create(secret, name, { namespace: 'shop' });
    await rig.delete(namespace, 'shop');
    for (const name of ['a', 'b']) await rig.delete(secret, name, 'Background', 'shop');
    await rig.advance(10_000);
    expect(passed()).toEqual([]);
    const finalize = { ...rig.at(namespace, 'shop'), subresource: 'finalize' };
    await rig.wait(rig.client.update(finalize, { metadata: { name: 'shop' }, spec: { finalizers: [] } }));
    await rig.advance(11_000);
    expect(passed()).toEqual([expect.objectContaining({ root: 'Namespace shop', policy: 'Namespace', deleted: 2 })]);
  });

  it('BETTER-21 count the objects of a namespace that is made anew and deleted again', async () => {
    await rig.startCollector({ writes: 'withheld', terminatingObjects: 'reported' });
    const finalize = () =>
      rig.wait(
        rig.client.update(
          { ...rig.at(namespace, 'shop'), subresource: 'finalize' },
          { metadata: { name: 'shop' }, spec: { finalizers: [] } },
        ),
      );
    const make = async (...names: readonly string[]) => {
      await rig.create(namespace, 'shop');
      for (const name of names) await rig.create(secret, name, { namespace: 'shop' });
      await rig.delete(namespace, 'shop');
    };
    await make('a');
    await rig.delete(secret, 'a', 'Background', 'shop');
    await finalize();
    await make('b', 'c');
    await rig.advance(3000);
    await rig.delete(secret, 'b', 'Background', 'shop');
    // The first cascade has passed by now, and the second has not.
    await rig.advance(3000);
    expect(passed()).toHaveLength(1);
    await rig.delete(secret, 'c', 'Background', 'shop');
    await finalize();
    await rig.advance(11_000);
    expect(passed().map(({ root, deleted }) => [root, deleted])).toEqual([
      ['Namespace shop', 1],
      ['Namespace shop', 2],
    ]);
  });

  it('BETTER-21 are not logged for an object without dependents', async () => {
    await rig.startCollector({ terminatingObjects: 'reported' });
    await rig.create(configMap, 'alone');
    await rig.delete(configMap, 'alone');
    await rig.advance(20_000);
    expect(passed()).toEqual([]);
  });
});
