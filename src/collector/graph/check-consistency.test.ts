import { describe, expect, it } from 'vitest';
import { apply } from './apply.ts';
import { checkInvariants, compareWithList } from './check-consistency.ts';
import type { ObservedEvent } from '../types/event.ts';
import { DELETING_DEPENDENTS, FIRST, FLAGS, REFS, UID } from './tables/node-table.ts';
import { OwnershipGraph } from './ownership-graph.ts';
import { deleted, observed, pods, ref, replicaSets, standbyPods, type TestObject } from './testing/events.ts';

function graphOf(...events: ObservedEvent[]): OwnershipGraph {
  const graph = new OwnershipGraph();
  for (const event of events) apply(graph, event, []);
  return graph;
}

describe('checkInvariants', () => {
  const healthy = () =>
    graphOf(
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o'), ref('v')] }),
    );

  it('COL-051 finds nothing in a healthy graph', () => {
    const graph = healthy();
    expect(checkInvariants(graph)).toEqual([]);
    apply(graph, deleted(pods, 'o'), []);
    expect(checkInvariants(graph)).toEqual([]);
  });

  it('COL-051 finds a dependent that its owner does not list', () => {
    const graph = healthy();
    graph.nodes.table.set(graph.find('o'), FIRST, -1);
    expect(checkInvariants(graph).map(({ problem }) => problem)).toContain('referenceNotInOwnersList');
  });

  it('COL-051 finds a dependent in the list of somebody else', () => {
    const graph = healthy();
    graph.nodes.table.set(graph.find('a'), REFS, graph.find('v'));
    expect(checkInvariants(graph)).toContainEqual({ uid: 'o', problem: 'listedUnderOtherOwner' });
  });

  it('COL-100 finds a wrong count of blocking dependents', () => {
    const graph = healthy();
    const owner = graph.find('o');
    graph.nodes.table.set(owner, FLAGS, graph.nodes.table.get(owner, FLAGS) | DELETING_DEPENDENTS);
    graph.references.beginWaiting(owner);
    expect(checkInvariants(graph)).toEqual([]);
    apply(graph, observed(pods, { uid: 'a', owners: [ref('o', { blockOwnerDeletion: true })] }), []);
    expect(checkInvariants(graph)).toEqual([]);
    graph.references.endWaiting(owner);
    graph.references.beginWaiting(owner);
    expect(graph.references.waiting(owner)?.count).toBe(1);
  });

  it('finds a node that its uid does not lead to', () => {
    const graph = healthy();
    graph.nodes.table.set(graph.find('v'), UID, 12345);
    expect(checkInvariants(graph).some(({ problem }) => problem === 'notFoundByUid')).toBe(true);
  });
});

describe('compareWithList', () => {
  const object: TestObject = { uid: 'a', owners: [ref('o', { controller: true })], finalizers: ['foregroundDeletion'] };
  const list = (change: Partial<TestObject> = {}) => [observed(pods, { ...object, ...change }).object];

  it('COL-051 a graph that saw the list is equal to it, whatever else it has', () => {
    const graph = graphOf(observed(pods, object), observed(replicaSets, { uid: 'r' }));
    expect(compareWithList(graph, pods, list())).toEqual([]);
  });

  it.each<[string, Partial<TestObject>, string]>([
    ['another name', { name: 'x' }, 'identity'],
    ['another namespace', { namespace: 'ns2' }, 'identity'],
    ['no reference', { owners: [] }, 'references'],
    ['another flag', { owners: [ref('o', { controller: false })] }, 'references'],
    ['an absent flag', { owners: [ref('o')] }, 'references'],
    ['a deletionTimestamp', { deleting: true }, 'deletion'],
    ['no finalizer', { finalizers: [] }, 'finalizers'],
  ])('COL-047 an object with %s differs in its %s', (_, change, difference) => {
    expect(compareWithList(graphOf(observed(pods, object)), pods, list(change))).toEqual([{ uid: 'a', difference }]);
  });

  it('COL-047 the objects of another resource of the kind are nothing that a list could lack', () => {
    const graph = graphOf(observed(pods, object), observed(standbyPods, { uid: 's' }));
    expect(compareWithList(graph, pods, list())).toEqual([]);
    expect(compareWithList(graph, standbyPods, [])).toEqual([{ uid: 's', difference: 'extra' }]);
  });

  it('COL-047 names the nodes that are missing and those that are there too much', () => {
    const graph = graphOf(observed(pods, object));
    expect(compareWithList(graph, pods, [observed(pods, { uid: 'o' }).object])).toEqual([
      { uid: 'o', difference: 'missing' },
      { uid: 'a', difference: 'extra' },
    ]);
  });
});
