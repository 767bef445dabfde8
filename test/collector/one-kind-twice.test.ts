import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configMap, event, refTo, refToNothing, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** COL-015: a kind that two groups serve, whose objects are the same under both, with one uid. Events are the one of Kubernetes. */
let rig: Rig;
const both = { ...event, gvr: { ...event.gvr, group: 'events.k8s.io' } };
const involvedObject = { kind: 'ConfigMap', name: 'owner', namespace: 'default' };
beforeEach(async () => {
  rig = await Rig.start({ serve: [configMap, secret, event, both] });
  await rig.startCollector({ ignoredResources: [] });
});
afterEach(() => rig.stop());

describe('a kind served by two groups', () => {
  it('COL-015 has two monitors', () => {
    const paths = rig.recorder.intake.map(({ path }) => path).filter((path) => path.endsWith('/events'));
    expect(paths.toSorted()).toEqual(['/api/v1/events', '/apis/events.k8s.io/v1/events']);
  });

  it('COL-015 its objects live as long as their owner, and go once, with one call', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(event, 'e', { owners: [refTo(owner)], body: { involvedObject } });
    await rig.create(event, 'f', { owners: [refToNothing(configMap, 'never')], body: { involvedObject } });
    await rig.rest();
    expect(await rig.names(event)).toEqual(['e']);
    rig.recorder.clear();
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(event)).toEqual([]);
    expect(rig.recorder.writes).toHaveLength(0);
    expect(rig.recorder.all.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it("COL-015 comes to rest: an event of one monitor does not make the other one's facts uncertain", async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(event, 'e', { owners: [refTo(owner)], body: { involvedObject } });
    for (let i = 0; i < 5; i++) await rig.patch(event, 'e', { labels: { turn: String(i) } });
    await rig.rest();
    rig.recorder.clear();
    await rig.advance(100_000);
    expect(rig.recorder.calls).toEqual([]);
  });

  it.each([
    { leaving: event, staying: both },
    { leaving: both, staying: event },
  ])('COL-015 BETTER-2 when $leaving.gvr.group/events is served no more, its objects stay known', async (groups) => {
    const { leaving, staying } = groups;
    const owner = await rig.create(configMap, 'owner');
    await rig.create(event, 'e', { owners: [refTo(owner)], body: { involvedObject } });
    await rig.rest();
    rig.unserve(leaving);
    await rig.advance(31_000);
    await rig.rest();
    const graph = await rig.graph();
    expect(graph).not.toContain('virtual="true"');
    expect(graph.match(/ -> /g)).toHaveLength(1);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(staying)).toEqual([]);
  });
});
