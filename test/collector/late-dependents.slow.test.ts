import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/client/election/leader-elector.ts';
import { refuse, silence } from './faults.ts';
import { holdIntake } from './hold.ts';
import { clusterRole, configMap, refTo, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Dependents that the collector has not seen when their owner is orphaned (COL-127). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
});
afterEach(() => rig.stop());

/** From now on the collector is shown no Secret until the returned function is called. */
async function blindFor(target: RegExp): Promise<() => void> {
  const back = holdIntake(rig, target);
  expect(rig.streams.cut(target)).toBe(1);
  await rig.settle();
  return back;
}
const secrets = /^\/api\/v1\/secrets\?/;
const lists = () => rig.recorder.barrierLists;

describe('a dependent that the watch has not shown', () => {
  it.each([
    { barrier: 'on', before: [] },
    // In Kubernetes it goes; here the owner is known to have been orphaned (LIFE-560), as soon as the collector sees the dependent.
    { barrier: 'off', before: ['owner'] },
  ] as const)(
    'COL-127 BETTER-13 with the barrier $barrier it stays; until it is seen it refers to $before',
    async ({ barrier, before }) => {
      await rig.startCollector({ orphanBarrier: barrier });
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'seen', { owners: [refTo(owner)] });
      await rig.rest();
      const back = await blindFor(secrets);
      await rig.create(secret, 'late', { owners: [refTo(owner)] });
      await rig.delete(configMap, 'owner', 'Orphan');
      await rig.advance(1000);
      expect(await rig.names(configMap)).toEqual([]);
      expect(await rig.owners(secret, 'late')).toEqual(before);
      back();
      await rig.advance(10_000);
      await rig.rest();
      expect(await rig.names(secret)).toEqual(['late', 'seen']);
      expect(await rig.owners(secret, 'late')).toEqual([]);
      expect(await rig.owners(secret, 'seen')).toEqual([]);
      if (barrier === 'off') expect(lists()).toEqual([]);
    },
  );

  it('BETTER-13 of a custom resource, and of a cluster-scoped owner in any namespace', async () => {
    await rig.startCollector();
    const owner = await rig.create(clusterRole, 'owner');
    const back = await blindFor(/widgets\?.*watch=true/);
    await rig.create(widget, 'late', { owners: [refTo(owner)], namespace: 'kube-system' });
    await rig.delete(clusterRole, 'owner', 'Orphan');
    await rig.advance(1000);
    expect(await rig.get(clusterRole, 'owner')).toBeUndefined();
    back();
    await rig.advance(10_000);
    await rig.rest();
    expect(await rig.owners(widget, 'late', 'kube-system')).toEqual([]);
  });

  it('BETTER-13 that cannot be patched keeps the owner until it can', async () => {
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    const back = await blindFor(secrets);
    await rig.create(secret, 'late', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/late/ }, refuse(500, 'InternalError'), 3);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    expect(await rig.names(configMap)).toEqual(['owner']);
    await rig.advance(5000);
    expect(await rig.names(configMap)).toEqual([]);
    expect(await rig.owners(secret, 'late')).toEqual([]);
    back();
    await rig.advance(10_000);
  });
});

describe('the lists of the barrier', () => {
  it('BETTER-13 are of the owner’s namespace, as of now, metadata only, once for each namespaced resource', async () => {
    await rig.startCollector();
    await rig.create(configMap, 'owner', { namespace: 'kube-system' });
    await rig.delete(configMap, 'owner', 'Orphan', 'kube-system');
    await rig.rest();
    const paths = lists().map(({ path }) => path);
    expect([new Set(paths).size, paths.length > 5]).toEqual([paths.length, true]);
    for (const { path, query, headers } of lists()) {
      expect(path).toContain('/namespaces/kube-system/');
      expect(query).toEqual({ limit: '500' });
      expect(headers['accept']).toContain('as=PartialObjectMetadataList');
    }
    expect(rig.recorder.calls.map(({ method }) => method)).toEqual(['PATCH']);
  });

  it('BETTER-13 are shared by owners that are orphaned together', async () => {
    await rig.startCollector({ concurrentGcSyncs: 40 });
    for (let i = 0; i < 40; i++) await rig.create(configMap, `o${i}`);
    rig.recorder.clear();
    await rig.wait(
      Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          rig.client.delete(rig.at(configMap, `o${i}`), { propagationPolicy: 'Orphan' }),
        ),
      ),
    );
    await rig.rest();
    expect(await rig.names(configMap)).toEqual([]);
    const each = new Set(lists().map(({ path }) => path)).size;
    expect(lists().length).toBeLessThanOrEqual(5 * each);
  });

  it.each([
    { what: 'silence', fault: silence, within: 2100 },
    { what: '500', fault: refuse(500, 'InternalError'), within: 100 },
  ])('BETTER-13 COL-048 $what of one resource delays an owner by two seconds at most', async ({ fault, within }) => {
    await rig.startCollector();
    await rig.create(configMap, 'owner');
    rig.faults.on({ target: /namespaces\/default\/secrets\?/ }, fault);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(within);
    expect(await rig.names(configMap)).toEqual([]);
    expect(rig.metrics.value('kubegc_collector_orphan_barriers_total', { outcome: 'gaveUp' })).toBe(1);
  });

  const gaveUp = () => rig.metrics.value('kubegc_collector_orphan_barriers_total', { outcome: 'gaveUp' }) ?? 0;

  it('BETTER-13 that are switched off are no look that gave up', async () => {
    await rig.startCollector({ orphanBarrier: 'off' });
    await rig.create(configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect([await rig.names(configMap), gaveUp()]).toEqual([[], 0]);
  });

  it('BETTER-13 LIFE-561 that the end of a term has cut are none either, and nothing is recorded after them', async () => {
    const { collector } = await rig.startCollector({ workers: 'whenLeading', orphanRecords: 'events' });
    const terms = [new AbortController(), new AbortController()] as const;
    const first = collector.lead(terms[0].signal);
    await rig.create(configMap, 'owner');
    rig.faults.on({ target: /namespaces\/default\/secrets\?/ }, silence);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(1000);
    expect(lists().length).toBeGreaterThan(0);
    terms[0].abort(new LeaseLostError('lost'));
    await rig.wait(first);
    expect(rig.recorder.all.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(rig.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    rig.faults.clear();
    const second = collector.lead(terms[1].signal);
    await rig.rest();
    expect([await rig.names(configMap), gaveUp()]).toEqual([[], 0]);
    terms[1].abort();
    await rig.wait(second);
  });
});
