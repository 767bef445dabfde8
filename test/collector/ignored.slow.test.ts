import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../src/api/meta/time.ts';
import { defaultIgnoredResources } from '../../src/collector/resources/deletable-resources.ts';
import type { Decision } from '../../src/collector/workers/decision.ts';
import { answerWith, refuse } from './faults.ts';
import { configMap, refTo, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Resources that somebody has the collector ignore. */
const ignoredResources = [
  ...defaultIgnoredResources,
  { group: '', resource: 'configmaps' },
  { group: 'example.com', resource: 'widgets' },
];
let rig: Rig;
let decisions: Decision[];
beforeEach(async () => {
  decisions = [];
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector({ ignoredResources, onDecision: (decision) => void decisions.push(decision) });
});
afterEach(() => rig.stop());

describe.each([configMap, widget])('an ignored $kind', (kind) => {
  it('COL-202 BETTER-22 deleted in foreground does not keep its finalizer for ever', async () => {
    await rig.create(kind, 'owner');
    await rig.delete(kind, 'owner', 'Foreground');
    await rig.advance(1000);
    expect(await rig.names(kind)).toEqual(['owner']);
    await rig.advance(30_000);
    expect(await rig.names(kind)).toEqual([]);
    expect(decisions).toContainEqual(expect.objectContaining({ reason: 'ignoredResource', verdict: 'forget' }));
  });

  it('COL-202 BETTER-22 COL-125 deleted with Orphan goes after its dependents were released', async () => {
    const owner = await rig.create(kind, 'owner', { finalizers: ['x.io/mine'] });
    const other = await rig.create(secret, 'other');
    await rig.create(secret, 'd', { owners: [refTo(owner), refTo(other)] });
    await rig.delete(kind, 'owner', 'Orphan');
    await rig.advance(31_000);
    expect((await rig.get(kind, 'owner'))?.metadata?.finalizers).toEqual(['x.io/mine']);
    expect(await rig.owners(secret, 'd')).toEqual(['other']);
    await rig.patch(kind, 'owner', { finalizers: null });
    await rig.advance(120_000);
    expect([await rig.names(kind), await rig.names(secret)]).toEqual([[], ['d', 'other']]);
  });

  it('BETTER-22 a dependent that cannot be released keeps it until it can', async () => {
    const owner = await rig.create(kind, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets\/d/ }, refuse(500, 'InternalError'), 2);
    await rig.delete(kind, 'owner', 'Orphan');
    await rig.advance(31_000);
    expect(await rig.names(kind)).toEqual(['owner']);
    await rig.advance(60_000);
    expect([await rig.names(kind), await rig.owners(secret, 'd')]).toEqual([[], []]);
  });

  it('COL-014 COL-200 is not collected, not watched, and not touched while nobody deletes it', async () => {
    const owner = await rig.create(secret, 'owner');
    await rig.create(kind, 'd', { owners: [refTo(owner)], finalizers: ['orphan'] });
    await rig.delete(secret, 'owner');
    await rig.advance(100_000);
    expect(await rig.names(kind)).toEqual(['d']);
    expect(
      rig.recorder.intake.filter(({ path, query }) => path.endsWith(kind.gvr.resource) && 'watch' in query),
    ).toEqual([]);
    expect(rig.recorder.writes).toEqual([]);
  });
});

it('BETTER-22 a list that fails is tried again, and the other resource does not wait for it', async () => {
  rig.faults.on({ method: 'GET', target: /configmaps\?limit/ }, refuse(403, 'Forbidden'));
  await rig.create(widget, 'w');
  await rig.create(configMap, 'c');
  await rig.delete(widget, 'w', 'Foreground');
  await rig.delete(configMap, 'c', 'Foreground');
  await rig.advance(31_000);
  expect([await rig.names(widget), await rig.names(configMap)]).toEqual([[], ['c']]);
  rig.faults.clear();
  await rig.advance(30_000);
  expect(await rig.names(configMap)).toEqual([]);
});

it('BETTER-22 each gets its turn, however many before it cannot be released', async () => {
  const names = Array.from({ length: 1001 }, (_, i) => `c${String(i).padStart(4, '0')}`);
  const deletionTimestamp = formatTime(rig.clock.now());
  const finalizers = ['foregroundDeletion'];
  const items = names.map((name) => ({
    metadata: { name, namespace: 'default', uid: `uid-${name}`, deletionTimestamp, finalizers },
  }));
  const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: {}, items };
  rig.faults.on({ method: 'GET', target: /\/configmaps\?limit/ }, answerWith(200, list));
  rig.faults.on({ target: /\/configmaps\/c/ }, refuse(500, 'InternalError'));
  const tried = () => rig.recorder.all.flatMap(({ path }) => /\/configmaps\/(c.*)$/.exec(path)?.[1] ?? []);
  await rig.advance(31_000);
  expect(tried()).toEqual(names.slice(0, 1000));
  rig.recorder.clear();
  await rig.advance(30_000);
  expect(tried()).toEqual([...names.slice(1000), ...names.slice(0, 999)]);
});

it('BETTER-22 nothing is looked for where only Events are ignored, and nothing by one that does not lead', async () => {
  const lists = () => rig.recorder.all.filter(({ path, query }) => path.endsWith('/configmaps') && !('watch' in query));
  await rig.advance(100_000);
  expect(lists().length).toBeGreaterThan(2);
  await rig.withoutCollector(() => Promise.resolve());
  await rig.advance(100_000);
  expect(lists()).toEqual([]);
  await rig.startCollector({ ignoredResources, workers: 'whenLeading' });
  await rig.create(widget, 'w');
  rig.recorder.clear();
  await rig.advance(100_000);
  expect(lists()).toEqual([]);
});

it('COL-014 reports an entry once that the server does not offer, with its possible meaning, until it is offered', async () => {
  const gadgets = { group: 'example.com', resource: 'gadgets' };
  const ignored = [{ group: '', resource: 'secret' }, { group: '', resource: 'configmaps' }, gadgets];
  const told = () =>
    rig.logger.lines
      .filter(({ message }) => message.startsWith('the server does not offer a resource'))
      .map(({ level, fields: { resource, meant } }) => ({ level, resource, meant }));
  await rig.startCollector({ ignoredResources: [...defaultIgnoredResources, ...ignored] });
  await rig.advance(100_000);
  const ofSecret = { level: 'warn', resource: 'secret', meant: 'secrets' };
  const ofGadgets = { level: 'warn', resource: 'example.com/gadgets', meant: undefined };
  expect(told()).toEqual([ofSecret, ofGadgets]);
  const gadget = { ...widget, kind: 'Gadget', gvr: { ...widget.gvr, resource: 'gadgets' } };
  rig.serve(gadget);
  await rig.advance(31_000);
  rig.unserve(gadget);
  await rig.advance(100_000);
  expect(told()).toEqual([ofSecret, ofGadgets, ofGadgets]);
});
