import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/**
 * An aggregated server may serve several resources of one kind in one version. Their objects are different ones, and a reference names
 * the kind alone: what one of the resources lacks is gone only if it was seen there (COL-002, COL-116).
 */
let rig: Rig;
const PERIOD_MS = 30_000;
const spare: TestKind = { ...widget, gvr: { ...widget.gvr, resource: 'sparewidgets' } };
/** A kind is mapped to one of them, whichever was there first; objects are in both. */
const ORDERS = [
  { first: widget, second: spare, last: 'sparewidgets' },
  { first: spare, second: widget, last: 'widgets' },
];

beforeEach(async () => {
  rig = await Rig.start({ serve: [configMap, secret] });
});
afterEach(() => rig.stop());

const spareWidgets = /\/apis\/example.com\/v1\/sparewidgets\?/;
const widgets = /\/apis\/example.com\/v1\/widgets\?/;

/** With an owner in it, and a Secret that refers to it. */
async function serve(kind: TestKind): Promise<void> {
  rig.serve(kind);
  const name = `in-${kind.gvr.resource}`;
  const owner = await rig.create(kind, name);
  await rig.create(secret, `of-${name}`, { owners: [refTo(owner)] });
}

async function serveBoth(first: TestKind, second: TestKind): Promise<void> {
  await serve(first);
  await serve(second);
}

const both = ['of-in-sparewidgets', 'of-in-widgets'];

describe.each(ORDERS)('a kind that two resources of one version have, $last served last', ({ first, second }) => {
  it('COL-002 who has a living owner in one of them stays, whatever the lists of the other say, until that owner goes', async () => {
    await serve(first);
    await rig.startCollector();
    await rig.rest();
    // Its list begins and ends when the other one has been read.
    rig.serve(second);
    await rig.advance(PERIOD_MS);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([`of-in-${first.gvr.resource}`]);
    await serve(second);
    await rig.rest();
    expect(await rig.names(secret)).toEqual(both);
    rig.collector.consistency.rescan();
    await rig.advance(PERIOD_MS);
    await rig.rest();
    expect(await rig.names(secret)).toEqual(both);
    await rig.delete(widget, 'in-widgets');
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['of-in-sparewidgets']);
    await rig.delete(spare, 'in-sparewidgets');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-002 and also after the other resource is not served any more', async () => {
    await serveBoth(first, second);
    await rig.startCollector();
    await rig.rest();
    rig.unserve(spare);
    await rig.advance(2 * PERIOD_MS);
    await rig.create(secret, 'late', { owners: [refTo((await rig.get(widget, 'in-widgets'))!)] });
    await rig.advance(PERIOD_MS);
    // The collector cannot ask for an owner whose kind no server serves.
    expect(await rig.names(secret)).toEqual(['late', ...both]);
    await rig.delete(widget, 'in-widgets');
    await rig.advance(PERIOD_MS);
    expect(await rig.names(secret)).toEqual(['of-in-sparewidgets']);
  });

  it.each([
    { unlisted: widgets, path: 'widgets' },
    { unlisted: spareWidgets, path: 'sparewidgets' },
  ])(
    'COL-116 an owner that was not seen is not taken for absent while $path cannot be listed',
    async ({ unlisted }) => {
      await serveBoth(first, second);
      await rig.create(secret, 'of-nobody', { owners: [refToNothing(widget, 'never')] });
      rig.faults.on({ target: unlisted }, refuse(403, 'Forbidden'));
      await rig.startCollector();
      await rig.advance(10 * PERIOD_MS);
      expect(await rig.names(secret)).toEqual(['of-in-sparewidgets', 'of-in-widgets', 'of-nobody']);
      rig.faults.clear();
      await rig.advance(2 * PERIOD_MS);
      await rig.delete(widget, 'in-widgets');
      await rig.delete(spare, 'in-sparewidgets');
      await rig.advance(2 * PERIOD_MS);
      expect(await rig.names(secret)).toEqual(['of-nobody']);
    },
  );

  it.each(['Foreground', 'Orphan'] as const)(
    'COL-101 COL-122 a deletion with policy %s ends in each of them, by calls to the resource that the object is in',
    async (policy) => {
      await serveBoth(first, second);
      await rig.startCollector();
      await rig.rest();
      for (const kind of [widget, spare]) await rig.delete(kind, `in-${kind.gvr.resource}`, policy);
      await rig.rest();
      for (const kind of [widget, spare]) expect(await rig.names(kind)).toEqual([]);
      expect(await rig.names(secret)).toEqual(policy === 'Orphan' ? both : []);
      const wrong = rig.recorder.calls.filter(({ path }) => /\/(\w+)\/in-(?!\1$)/.test(path));
      expect(wrong).toEqual([]);
    },
  );

  it('COL-090 an object of either of them that is garbage goes, and no other of its name', async () => {
    rig.serve(first);
    rig.serve(second);
    const owner = await rig.create(configMap, 'owner');
    await rig.create(first, 'w', { owners: [refTo(owner)] });
    await rig.create(second, 'w');
    await rig.create(second, 'x', { owners: [refTo(owner)] });
    await rig.create(first, 'x');
    await rig.startCollector();
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect([await rig.names(first), await rig.names(second)]).toEqual([['x'], ['w']]);
  });

  it('finds the graph equal to what the server has', async () => {
    await serveBoth(first, second);
    await rig.startCollector();
    await rig.rest();
    const report = await rig.wait(rig.collector.consistency.check(new AbortController().signal));
    expect(report).toEqual({ differences: [], inconsistencies: [], unread: [], complete: true });
  });
});
