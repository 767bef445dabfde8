import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backup } from './backup.ts';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** The cache of owners that do not exist: its entries, and owners that may not be in it. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
});
afterEach(() => rig.stop());

const reads = () =>
  rig.recorder.lines.filter((line) => line.startsWith('GET')).map((line) => line.replace(/^GET \S*\//, ''));

describe('what is remembered', () => {
  it('COL-115 presence is not: an owner that the graph does not show is read for each dependent, each time', async () => {
    const owner = await rig.create(widget, 'owner');
    // Widgets cannot be listed, so that nothing is known of them but what is read.
    rig.faults.on({ target: /widgets\?/ }, refuse(403, 'Forbidden'));
    await rig.startCollector();
    await rig.advance(31_000);
    rig.recorder.clear();
    for (const name of ['a', 'b', 'c']) {
      await rig.create(secret, name, { owners: [refTo(owner), refToNothing(configMap, name)] });
      await rig.settle();
    }
    await rig.advance(1000);
    expect(reads().filter((line) => line === 'owner 200').length).toBeGreaterThanOrEqual(3);
    // The owner is deleted, and no event shows it: the next dependent that refers to it is checked by a read.
    await rig.delete(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner), refToNothing(configMap, 'd')] });
    await rig.advance(1000);
    expect(await rig.names(secret)).not.toContain('d');
  });

  it('COL-115 COL-156 neither is an answer that proves nothing', async () => {
    await rig.startCollector();
    rig.faults.on({ method: 'GET', target: /configmaps\/never/ }, refuse(500, 'InternalError'), 3);
    await rig.create(secret, 'a', { owners: [refToNothing(configMap, 'never')] });
    await rig.rest();
    expect(reads().slice(0, 4)).toEqual(['never 500', 'never 500', 'never 500', 'never 404']);
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('COL-133 an absence is remembered', () => {
  it.each([
    { what: 'after a read that proved it', name: 'never' },
    { what: 'after a read that showed another uid', name: 'successor' },
  ])('COL-133 COL-114 $what', async ({ name }) => {
    await rig.create(configMap, 'successor');
    const ghost = refToNothing(configMap, name);
    // The graph is not to be believed, so that each owner is read.
    rig.faults.on({ target: /widgets\?/ }, refuse(403, 'Forbidden'));
    await rig.startCollector();
    await rig.advance(31_000);
    await rig.create(secret, 'a', { owners: [ghost] });
    await rig.advance(1000);
    expect(reads().filter((line) => line.startsWith(name)).length).toBeGreaterThan(0);
    rig.recorder.clear();
    await rig.create(secret, 'b', { owners: [ghost] });
    await rig.advance(1000);
    expect(reads().filter((line) => line.startsWith(name)).length).toBeLessThanOrEqual(1);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-133 COL-057 after the deletion of an owner that had dependents was observed', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'a', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect([await rig.names(secret), reads()]).toEqual([[], []]);
  });

  it('COL-133 COL-075 after it was found out for an owner that only its dependents named', async () => {
    await rig.create(secret, 'a', { owners: [refToNothing(configMap, 'never')] });
    await rig.create(secret, 'b', { owners: [refToNothing(configMap, 'never')] });
    await rig.startCollector();
    await rig.rest();
    expect([await rig.names(secret), reads()]).toEqual([[], ['never 404']]);
  });
});

describe('an identity that comes back', () => {
  it('COL-135 BETTER-14 is not absent any more: a restored owner keeps its dependents', async () => {
    const owner = await rig.create(configMap, 'owner');
    const kept = refTo(owner);
    const restore = await backup(rig, configMap, 'owner');
    await rig.startCollector();
    await rig.create(secret, 'before', { owners: [kept] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    await restore();
    await rig.create(secret, 'after', { owners: [kept] });
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['after']);
    expect(await rig.owners(secret, 'after')).toEqual(['owner']);
  });
});
