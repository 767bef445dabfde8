import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resetBefore } from './faults.ts';
import { configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import { type Policy, Rig } from './rig.ts';

/** Section 18: start, stop, and what happened while nobody was there. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const policies: readonly Policy[] = ['Background', 'Foreground', 'Orphan'];

describe('a start', () => {
  it.each(policies)('COL-211 COL-213 honours a delete in %s issued before', async (policy) => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 5; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner, { block: true })] });
    await rig.delete(configMap, 'owner', policy);
    await rig.startCollector();
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    expect((await rig.names(secret)).length).toBe(policy === 'Orphan' ? 5 : 0);
    if (policy === 'Orphan') expect(await rig.owners(secret, 'd0')).toEqual([]);
  });

  it('COL-211 collects what lost its owner long ago, and leaves what has one', async () => {
    const owner = await rig.create(configMap, 'owner');
    const other = await rig.create(configMap, 'other');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.create(secret, 'both', { owners: [refTo(owner), refTo(other)] });
    await rig.create(secret, 'kept', { owners: [refTo(other)] });
    await rig.create(secret, 'free');
    await rig.delete(configMap, 'owner');
    await rig.startCollector();
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['both', 'free', 'kept']);
    expect(await rig.owners(secret, 'both')).toEqual(['other']);
  });

  it('COL-213 COL-127 an orphan delete of before holds for a dependent whose resource is listed late', async () => {
    rig.serve(widget);
    const owner = await rig.create(configMap, 'owner', { finalizers: ['x.io/hold'] });
    await rig.create(widget, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner', 'Orphan');
    const waiting: (() => void)[] = [];
    rig.faults.on(
      { target: /widgets\?/ },
      async (request, next) => {
        await new Promise<void>((go) => waiting.push(go));
        return next(request);
      },
      1,
    );
    await rig.startCollector();
    await rig.advance(10_000);
    for (const go of waiting) go();
    await rig.rest();
    expect(await rig.owners(widget, 'd')).toEqual([]);
  });

  it('COL-210 work begins when all lists are there, not before', async () => {
    await rig.create(secret, 'd', { owners: [refToNothing(configMap, 'never')] });
    rig.faults.on({ target: /pods\?/ }, resetBefore, 3);
    await rig.startCollector();
    expect(rig.recorder.lines).toEqual([]);
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect(rig.logger.lines.map(({ message }) => message)).toContain('all monitors are synced, collecting');
  });
});

describe('a stop', () => {
  it.each(policies)('COL-215 in the middle of a cascade in %s: the next one completes it', async (policy) => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 30; i++) {
      const child = await rig.create(secret, `c${i}`, { owners: [refTo(owner, { block: true })] });
      await rig.create(configMap, `g${i}`, { owners: [refTo(child, { block: true })] });
    }
    const first = await rig.startCollector({ concurrentGcSyncs: 2 });
    let seen = 0;
    let reached = (): void => {};
    const half = new Promise<void>((resolve) => {
      reached = resolve;
    });
    rig.faults.on({ target: /namespaces\/default/ }, (request, next) => {
      if (++seen === 15) reached();
      return next(request);
    });
    const deleted = rig.client.delete(rig.at(configMap, 'owner'), { propagationPolicy: policy });
    const stopped = half.then(() => first.stop());
    await rig.wait(Promise.all([deleted, stopped]));
    const atStop = rig.recorder.writes.length;
    expect(atStop).toBeGreaterThanOrEqual(15);
    expect(atStop).toBeLessThan(policy === 'Orphan' ? 80 : 30);
    await rig.advance(60_000);
    expect(rig.recorder.writes).toHaveLength(atStop);

    await rig.startCollector();
    await rig.rest();
    expect(await rig.get(configMap, 'owner')).toBeUndefined();
    expect((await rig.names(configMap)).length + (await rig.names(secret)).length).toBe(policy === 'Orphan' ? 60 : 0);
  });

  it('COL-215 finishes the request under way, takes no more keys, and ends all lists and watches', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 5; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    const running = await rig.startCollector({ concurrentGcSyncs: 1 });
    let answer = (): void => {};
    rig.faults.on(
      { method: 'DELETE', target: /secrets/ },
      async (request, next) => {
        await new Promise<void>((go) => {
          answer = go;
        });
        return next(request);
      },
      1,
    );
    await rig.delete(configMap, 'owner');
    const stopping = running.stop();
    await rig.settle();
    answer();
    await stopping;
    expect(rig.recorder.lines).toEqual([expect.stringMatching(/^DELETE .* 200$/)]);
    expect(await rig.names(secret)).toHaveLength(4);
    expect(rig.recorder.underWay).toBe(0);
    expect(rig.streams.open).toBe(0);
    expect(rig.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('COL-215 begins nothing anew after a conflict of the request under way', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const running = await rig.startCollector();
    let stopping: Promise<void> | undefined;
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, async (request, next) => {
      const body = { metadata: { labels: { turn: 'next' } } };
      await rig.client.patch(rig.at(secret, 'd'), { type: 'application/merge-patch+json', body });
      stopping ??= running.stop();
      return next(request);
    });
    await rig.delete(configMap, 'owner');
    await rig.settle();
    await stopping;
    expect(rig.recorder.lines).toEqual([expect.stringMatching(/^DELETE .* 409$/)]);
    expect(await rig.names(secret)).toEqual(['d']);
  });

  it('COL-215 does not wait for ever for a server that does not answer', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const running = await rig.startCollector();
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, ({ signal }) => {
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      });
    });
    await rig.delete(configMap, 'owner');
    const stopping = running.stop();
    await rig.advance(10_000);
    await stopping;
    expect(rig.recorder.underWay).toBe(0);
  });

  it('COL-215 leaves no timer behind', async () => {
    const before = rig.clock.pendingTimers;
    const running = await rig.startCollector();
    await rig.create(secret, 'd', { owners: [refToNothing(widget, 'x')] });
    await rig.advance(1000);
    await running.stop();
    await rig.settle();
    expect(rig.clock.pendingTimers).toBe(before);
  });

  it('COL-215 while discovery fails, or while the first lists are waited for', async () => {
    rig.faults.on({ target: /^\/apis?$/ }, resetBefore);
    const first = await rig.startCollector();
    await first.stop();
    rig.faults.clear();
    rig.faults.on({ target: /pods\?/ }, resetBefore);
    const second = await rig.startCollector();
    await second.stop();
    expect(rig.recorder.underWay).toBe(0);
  });
});

describe('two collectors on one cluster', () => {
  it.each(policies)('COL-204 do no harm to each other (%s)', async (policy) => {
    const owner = await rig.create(configMap, 'owner');
    const other = await rig.create(configMap, 'other');
    for (let i = 0; i < 10; i++) {
      await rig.create(secret, `d${i}`, { owners: [refTo(owner, { block: true })] });
      await rig.create(secret, `e${i}`, { owners: [refTo(owner, { block: true }), refTo(other)] });
    }
    await rig.startCollector();
    await rig.startCollector();
    await rig.delete(configMap, 'owner', policy);
    await rig.rest();
    expect(await rig.names(configMap)).toEqual(['other']);
    expect((await rig.names(secret)).length).toBe(policy === 'Orphan' ? 20 : 10);
    for (let i = 0; i < 10; i++) expect(await rig.owners(secret, `e${i}`)).toEqual(['other']);
  });
});
