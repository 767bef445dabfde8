import { afterEach, beforeEach, expect, it } from 'vitest';
import { FINALIZER_FOREGROUND } from '../../src/api/meta/object-meta.ts';
import type { Decision } from '../../src/collector/workers/decision.ts';
import { refuse, silence } from './faults.ts';
import { configMap, refTo, secret, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** The facts that the workers keep from one round about an object to the next, and those that they must not keep. */
const HOLD = 'x.io/hold';
const betaWidget: TestKind = { ...widget, gvr: { ...widget.gvr, version: 'v1beta1' } };

let rig: Rig;
let decisions: Decision[];

beforeEach(async () => {
  decisions = [];
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const collect = () => rig.startCollector({ onDecision: (decision) => void decisions.push(decision) });
const decidedAbout = (name: string) => decisions.filter(({ identity }) => identity?.name === name);

it('COL-098 after a conflict the owners are read anew: one that does not wait any more keeps its dependent', async () => {
  rig.serve(widget);
  rig.serve(widget, 'v1beta1');
  await collect();
  const owner = await rig.create(widget, 'owner', { finalizers: [HOLD] });
  // In this version the graph knows nothing of the owner, so that it is read live.
  const reference = refTo(owner, { apiVersion: 'example.com/v1beta1', block: true });
  await rig.create(configMap, 'dependent', { owners: [reference] });
  await rig.rest();
  const patch = (body: object) => ({ type: 'application/merge-patch+json', body }) as const;
  rig.faults.on(
    { method: 'DELETE', target: /dependent/ },
    async (request, next) => {
      await rig.client.patch(rig.at(widget, 'owner'), patch({ metadata: { finalizers: [HOLD] } }));
      await rig.client.patch(rig.at(configMap, 'dependent'), patch({ metadata: { labels: { busy: 'yes' } } }));
      return next(request);
    },
    1,
  );
  await rig.delete(widget, 'owner', 'Foreground');
  await rig.rest();
  expect(rig.recorder.lines).toContainEqual(expect.stringMatching(/^DELETE .*dependent 409$/));
  expect(await rig.names(configMap)).toEqual(['dependent']);
  await rig.patch(widget, 'owner', { finalizers: null });
  await rig.rest();
  expect(await rig.names(configMap)).toEqual([]);
});

it.each([
  { change: 'its label', touched: { labels: { keep: null } }, within: 1500, left: [] },
  { change: 'nothing', touched: undefined, within: 1500, left: ['d'] },
])(
  'COL-085 BETTER-8 what a policy refuses is tried again within a second after a change of $change',
  async ({ touched, within, left }) => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.patch(secret, 'd', { labels: { keep: 'yes' } });
    await collect();
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, async (request, next) => {
      const kept = (await rig.get(secret, 'd'))?.metadata?.labels?.['keep'] !== undefined;
      return kept ? refuse(422, 'Invalid')(request, next) : next(request);
    });
    await rig.delete(configMap, 'owner');
    await rig.advance(45_000);
    expect(await rig.names(secret)).toEqual(['d']);
    if (touched !== undefined) await rig.patch(secret, 'd', touched);
    await rig.advance(within);
    expect(await rig.names(secret)).toEqual(left);
  },
);

it('COL-085 BETTER-8 an object that changes without a pause is tried once a second', async () => {
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'd', { owners: [refTo(owner)] });
  await collect();
  rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(422, 'Invalid'));
  await rig.delete(configMap, 'owner');
  await rig.advance(45_000);
  rig.recorder.clear();
  for (let i = 0; i < 100; i++) {
    await rig.patch(secret, 'd', { labels: { n: String(i) } });
    await rig.advance(100);
  }
  const tries = rig.recorder.lines.filter((line) => line.startsWith('DELETE'));
  expect(tries.length).toBeGreaterThanOrEqual(8);
  expect(tries.length).toBeLessThanOrEqual(10);
});

it('COL-071 COL-092 an owner that exists and is never shown is asked for again, until it is gone', async () => {
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
  rig.faults.on({ target: /configmaps\?/ }, refuse(403, 'Forbidden'));
  await collect();
  await rig.advance(60_000);
  expect(await rig.names(secret)).toEqual(['dependent']);
  await rig.delete(configMap, 'owner');
  await rig.advance(120_000);
  expect(await rig.names(secret)).toEqual([]);
});

it('COL-094 a delete that failed is tried again, with nothing done in between', async () => {
  await collect();
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
  rig.faults.on({ method: 'DELETE', target: /dependent/ }, refuse(500, 'InternalError'), 3);
  await rig.delete(configMap, 'owner');
  await rig.rest();
  expect(await rig.names(secret)).toEqual([]);
  expect(rig.recorder.writes.map(({ method, status }) => `${method} ${status}`)).toEqual([
    ...Array.from({ length: 3 }, () => 'DELETE 500'),
    'DELETE 200',
  ]);
});

it('COL-102 an owner that waits does not queue dependents that wait themselves', async () => {
  await collect();
  const owner = await rig.create(configMap, 'owner');
  const child = await rig.create(configMap, 'child', { owners: [refTo(owner, { block: true })] });
  await rig.create(configMap, 'grandchild', { owners: [refTo(child, { block: true })], finalizers: [HOLD] });
  await rig.create(secret, 'first', { owners: [refTo(owner, { block: true })], finalizers: [HOLD] });
  await rig.delete(configMap, 'owner', 'Foreground');
  await rig.rest();
  expect((await rig.get(configMap, 'child'))?.metadata?.finalizers).toEqual([FINALIZER_FOREGROUND]);
  decisions.length = 0;
  // The owner is processed when a dependent is gone, and queues those that block it: the late one, and not the child again.
  await rig.create(secret, 'late', { owners: [refTo(owner, { block: true })], finalizers: [HOLD] });
  await rig.patch(secret, 'first', { finalizers: null });
  await rig.rest();
  expect(decidedAbout('owner').length).toBeGreaterThan(0);
  expect(decidedAbout('late').length).toBeGreaterThan(0);
  expect(decidedAbout('child')).toEqual([]);
});

it('COL-121 COL-122 COL-125 one dependent that cannot be released keeps the owner, however many others were', async () => {
  // Without the fresh lists, which would find the one that is left.
  await rig.startCollector({ orphanBarrier: 'off' });
  const owner = await rig.create(configMap, 'owner');
  for (const name of ['a', 'b', 'c']) await rig.create(secret, name, { owners: [refTo(owner)] });
  rig.faults.on({ method: 'PATCH', target: /secrets\/b/ }, refuse(500, 'InternalError'), 3);
  await rig.delete(configMap, 'owner', 'Orphan');
  await rig.settle();
  expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan']);
  await rig.rest();
  expect(await rig.get(configMap, 'owner')).toBeUndefined();
  expect(await rig.names(secret)).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'b', 'c']) expect(await rig.owners(secret, name)).toEqual([]);
});

it('COL-121 COL-05A a dependent that is known in a version which is no longer served is orphaned, or the owner waits', async () => {
  rig.serve(widget, 'v1beta1');
  // Without the fresh lists, which would find it in the new version.
  await rig.startCollector({ orphanBarrier: 'off' });
  const owner = await rig.create(configMap, 'owner');
  await rig.create(betaWidget, 'dependent', { owners: [refTo(owner)] });
  await rig.rest();
  rig.unserve(betaWidget);
  rig.serve(widget);
  rig.faults.on({ target: /v1\/widgets/ }, silence);
  await rig.advance(31_000);
  await rig.delete(configMap, 'owner', 'Orphan');
  await rig.advance(5000);
  expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan']);
  rig.unserve(widget);
  rig.serve(widget, 'v1beta1');
  await rig.advance(31_000);
  await rig.rest();
  expect(await rig.get(configMap, 'owner')).toBeUndefined();
  expect(await rig.owners(betaWidget, 'dependent')).toEqual([]);
});
