import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbsentOwnerCache } from '../caches/absent-owner-cache.ts';
import { apply } from '../graph/apply.ts';
import type { GraphEvent } from '../types/event.ts';
import type { Graph, NodeId } from '../graph/graph.ts';
import { OwnershipGraph } from '../graph/ownership-graph.ts';
import { cluster, deleted, nodes, observed, pods, ref, standbyPods } from '../graph/testing/events.ts';
import { gatherFacts, type FactSource, type Round } from './gather-facts.ts';
import { beginOrphanRound, gatherOrphanFacts, lookedAtOwner } from './gather-orphan-facts.ts';
import { liveObjectOf } from './live-object.ts';
import { ownerLookup } from './owner-lookup.ts';
import { type Epoch, FIRST_EPOCH, nextEpoch } from '../types/epoch.ts';
import { isInWaitingCycle } from './waiting-cycle.ts';

const MAPPINGS = {
  Pod: { apiVersion: 'v1', resource: 'pods', namespaced: true },
  Node: { apiVersion: 'v1', resource: 'nodes', namespaced: false },
} as const;

function graphOf(...events: GraphEvent[]): OwnershipGraph {
  const graph = new OwnershipGraph();
  for (const event of events) apply(graph, event, []);
  return graph;
}

function source(graph: OwnershipGraph, absentOwners = new AbsentOwnerCache()): FactSource {
  return {
    graph,
    absentOwners,
    mapping: (_, kind) => (kind in MAPPINGS ? MAPPINGS[kind as keyof typeof MAPPINGS] : undefined),
    trust: 'trusted',
  };
}

function round(change: Partial<Round> = {}): Round {
  return {
    uid: 'a',
    queuedAs: 'observed',
    shortcut: 'allowed',
    latest: { state: 'unasked' },
    owners: new Map(),
    blockingWhenQueued: undefined,
    endAccepted: undefined,
    ...change,
  };
}

/** Pods are in two resources. */
function spread(graph: OwnershipGraph): FactSource {
  return {
    ...source(graph),
    mapping: (_, kind, resource) =>
      resource === undefined
        ? { ...MAPPINGS.Pod, alsoElsewhere: true }
        : { apiVersion: 'v1', resource, namespaced: kind === 'Pod' },
  };
}

describe('a kind that several resources have', () => {
  const graph = graphOf(
    observed(standbyPods, { uid: 'o' }),
    observed(standbyPods, { uid: 'a', owners: [ref('o'), ref('v')] }),
  );

  it('COL-116 what was seen is where it was seen, and an owner that was not may be in any of them', () => {
    const { node, owners } = gatherFacts(spread(graph), round());
    const seen = { apiVersion: 'v1', resource: 'standbypods', namespaced: true };
    expect(node?.mapping).toEqual(seen);
    expect(owners.map(({ mapping }) => mapping)).toEqual([seen, { ...MAPPINGS.Pod, alsoElsewhere: true }]);
    expect(gatherFacts(spread(graph), round({ uid: 'v' })).node?.mapping?.alsoElsewhere).toBe(true);
    expect(
      gatherOrphanFacts(spread(graph), beginOrphanRound(source(graph), 'o', { triedBefore: false })).node?.mapping,
    ).toEqual(seen);
  });

  it('LIFE-560 an owner of it that was orphaned is known with a namespace or without', () => {
    for (const place of ['ns', '']) {
      const absentOwners = new AbsentOwnerCache();
      absentOwners.note({ apiVersion: 'v1', kind: 'Pod', name: 'v', uid: 'v', namespace: place });
      const facts = gatherFacts(
        { ...spread(graph), absentOwners, wasOrphaned: ({ namespace }) => namespace === place },
        round(),
      );
      expect(facts.owners[1]).toMatchObject({ knownAbsent: true, orphaned: true });
    }
  });
});

const WAITING = { deleting: true, finalizers: ['foregroundDeletion'] };
const toNode = ref('n', { kind: 'Node' });

describe('what the graph says of an owner', () => {
  const owner = (events: readonly GraphEvent[], reference = ref('o'), namespace = 'ns') =>
    gatherFacts(source(graphOf(...events, observed(pods, { uid: 'a', namespace, owners: [reference] }))), round())
      .owners[0]?.graph;

  it.each<[string, string, readonly GraphEvent[], ReturnType<typeof ref>?, string?]>([
    ['observed', 'solid', [observed(pods, { uid: 'o' })]],
    ['waiting', 'waiting', [observed(pods, { uid: 'o', ...WAITING })]],
    ['terminating without FG (COL-106)', 'solid', [observed(pods, { uid: 'o', deleting: true, finalizers: ['x/y'] })]],
    [
      'no more waiting, though deletingDependents (COL-065)',
      'solid',
      [observed(pods, { uid: 'o', ...WAITING }), observed(pods, { uid: 'o', deleting: true, finalizers: ['x/y'] })],
    ],
    ['unknown', 'unproven', []],
    [
      'gone',
      'unproven',
      [observed(pods, { uid: 'o' }), observed(pods, { uid: 'b', owners: [ref('o')] }), deleted(pods, 'o')],
    ],
    ['another name', 'unproven', [observed(pods, { uid: 'o' })], ref('o', { name: 'x' })],
    ['another kind', 'unproven', [observed(pods, { uid: 'o' })], ref('o', { kind: 'Node' })],
    ['another version', 'unproven', [observed(pods, { uid: 'o' })], ref('o', { apiVersion: 'v2' })],
    ['in another namespace', 'unproven', [observed(pods, { uid: 'o' })], ref('o'), 'ns2'],
    ['cluster-scoped', 'solid', [observed(nodes, { uid: 'n', ...cluster })], toNode],
  ])('BETTER-9 %s: %s', (_, expected, events, reference, namespace) => {
    expect(owner(events, reference, namespace)).toBe(expected);
  });
});

describe('BETTER-9 an end that was accepted', () => {
  const shown = { resourceVersion: '5' };
  it.each<[string, Partial<Parameters<typeof observed>[1]>, Round['endAccepted'], boolean]>([
    ['no end', shown, undefined, false],
    ['a delete of the version shown', shown, { resourceVersion: '5', by: 'delete' }, true],
    ['of another one', shown, { resourceVersion: '4', by: 'delete' }, false],
    ['a delete of what was being deleted', { ...shown, ...WAITING }, { resourceVersion: '5', by: 'delete' }, false],
    ['the finalizer it waited with', { ...shown, ...WAITING }, { resourceVersion: '5', by: 'finalizer' }, true],
    ['no version', { resourceVersion: '' }, undefined, false],
  ])('%s', (_, object, endAccepted, awaited) => {
    const graph = graphOf(observed(pods, { uid: 'a', ...object }));
    expect(gatherFacts(source(graph), round({ endAccepted })).node?.endAccepted).toBe(awaited);
  });
});

describe('the references in force', () => {
  const graph = graphOf(observed(pods, { uid: 'a', owners: [ref('o')] }));
  const target = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'a', uid: 'a' };
  const found = (uid: string) => {
    const metadata = { uid, name: 'a', namespace: 'ns2', resourceVersion: '9', ownerReferences: [ref('p')] };
    return { state: 'found', target, object: liveObjectOf(metadata) } as const;
  };

  it('COL-091 are those of the live object once it was read', () => {
    expect(gatherFacts(source(graph), round()).owners.map(({ reference }) => reference.uid)).toEqual(['o']);
    const facts = gatherFacts(source(graph), round({ latest: found('a') }));
    expect(facts.owners.map(({ reference }) => reference.uid)).toEqual(['p']);
  });

  it('COL-11A, COL-111 are seen from the namespace of the live object', () => {
    const absentOwners = new AbsentOwnerCache();
    absentOwners.note({ ...ref('p'), namespace: 'ns2' });
    const facts = gatherFacts(source(graph, absentOwners), round({ latest: found('a') }));
    expect(facts.owners[0]?.knownAbsent).toBe(true);
  });

  it('COL-090.7 another object of the name has no say', () => {
    const facts = gatherFacts(source(graph), round({ latest: found('x') }));
    expect(facts.owners.map(({ reference }) => reference.uid)).toEqual(['o']);
  });

  it('COL-114 an answer counts for the place it was asked at', () => {
    const asked = ownerLookup(ref('o'), MAPPINGS.Pod, 'ns').key;
    const elsewhere = ownerLookup(ref('o'), MAPPINGS.Pod, 'ns2').key;
    const live = (key: string) =>
      gatherFacts(source(graph), round({ owners: new Map([[key, 'absent']]) })).owners[0]?.live;
    expect(live(asked)).toBe('absent');
    expect(live(elsewhere)).toBe('unasked');
  });

  it('COL-111, BETTER-15 a uid that the graph knows to be gone is absent without a read', () => {
    const gone = graphOf(
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      deleted(pods, 'o'),
    );
    expect(gatherFacts(source(gone), round()).owners[0]?.knownAbsent).toBe(true);
  });
});

describe('what the graph says of the item', () => {
  it('COL-058 nothing of a uid without node', () => {
    expect(gatherFacts(source(new OwnershipGraph()), round()).node).toBeUndefined();
  });

  it.each([
    ['none', [], 'none'],
    ['one', [observed(pods, { uid: 'b', owners: [ref('a')] })], 'some'],
    [
      'one that waits behind one that does not',
      [observed(pods, { uid: 'b', owners: [ref('a')], ...WAITING }), observed(pods, { uid: 'c', owners: [ref('a')] })],
      'someDeletingDependents',
    ],
  ])('COL-097, COL-10C dependents: %s', (_, events, expected) => {
    const graph = graphOf(observed(pods, { uid: 'a' }), ...events);
    expect(gatherFacts(source(graph), round()).node?.dependents).toBe(expected);
  });

  it('COL-100 what blocks it, once it waits', () => {
    const blocking = ref('a', { blockOwnerDeletion: true });
    const graph = graphOf(observed(pods, { uid: 'a', ...WAITING }), observed(pods, { uid: 'b', owners: [blocking] }));
    expect(gatherFacts(source(graph), round()).node).toMatchObject({
      deletingDependents: true,
      blocking: { count: 1, lastAddition: 2 },
      inWaitingCycle: false,
    });
  });
});

describe('isInWaitingCycle', () => {
  const blocks = (uid: string) => ref(uid, { blockOwnerDeletion: true });
  const inCycle = (...events: GraphEvent[]) => {
    const graph = graphOf(...events);
    return isInWaitingCycle(graph, graph.find('a'));
  };

  it('COL-10C a chain of waiting objects is none', () => {
    expect(
      inCycle(
        observed(pods, { uid: 'a', ...WAITING }),
        observed(pods, { uid: 'b', owners: [blocks('a')], ...WAITING }),
        observed(pods, { uid: 'c', owners: [blocks('b')], ...WAITING }),
      ),
    ).toBe(false);
  });

  it('COL-10C three that wait for each other are', () => {
    const ring = (last: object) => [
      observed(pods, { uid: 'a', owners: [blocks('b')], ...WAITING }),
      observed(pods, { uid: 'b', owners: [blocks('c')], ...WAITING }),
      observed(pods, { uid: 'c', owners: [blocks('a')], ...last }),
    ];
    expect(inCycle(...ring(WAITING))).toBe(true);
    expect(inCycle(...ring({}))).toBe(false);
  });

  it('COL-10C a reference that does not block opens it, and so does not being a member', () => {
    expect(
      inCycle(
        observed(pods, { uid: 'a', owners: [ref('b')], ...WAITING }),
        observed(pods, { uid: 'b', owners: [blocks('a')], ...WAITING }),
      ),
    ).toBe(false);
    expect(
      inCycle(
        observed(pods, { uid: 'a', ...WAITING }),
        observed(pods, { uid: 'b', owners: [blocks('a'), blocks('c')], ...WAITING }),
        observed(pods, { uid: 'c', owners: [blocks('b')], ...WAITING }),
      ),
    ).toBe(false);
  });

  it('BETTER-10 a reference to itself is none', () => {
    expect(inCycle(observed(pods, { uid: 'a', owners: [blocks('a')], ...WAITING }))).toBe(false);
  });

  it.each([
    ['walked up', { waitingOwnersMore: 0, numRuns: 2000 }],
    ['walked down, because more is above it than below', { waitingOwnersMore: 150, numRuns: 200 }],
  ])('COL-10C is what its definition says, in any small graph, %s', (_, { waitingOwnersMore, numRuns }) => {
    const uids = ['a', 'b', 'c', 'd', 'e'];
    const more = Array.from({ length: waitingOwnersMore }, (__, i) => `more-${i}`);
    const uid = fc.constantFrom(...uids);
    const blockOwnerDeletion = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean());
    const owners = fc.array(
      fc.record({ uid, blockOwnerDeletion }).map(({ uid: owner, ...flag }) => ref(owner, flag)),
      { maxLength: 4 },
    );
    const state = fc.oneof({ weight: 4, arbitrary: fc.constant(WAITING) }, fc.constant({}));
    const object = fc
      .record({ uid, owners, state })
      .map(({ state: then, ...rest }) =>
        observed(pods, { ...rest, ...then, owners: [...more.map(blocks), ...rest.owners] }),
      );
    const event: fc.Arbitrary<GraphEvent> = fc.oneof(
      { weight: 5, arbitrary: object },
      { weight: 1, arbitrary: uid.map((of) => deleted(pods, of)) },
    );
    const found = new Set<boolean>();
    fc.assert(
      fc.property(fc.array(event, { minLength: 3, maxLength: 12 }), (events) => {
        const graph = graphOf(...more.map((of) => observed(pods, { uid: of, ...WAITING })), ...events);
        for (const id of uids.map((of) => graph.find(of)).filter((known) => known >= 0)) {
          const expected = comesBackDownwards(graph, id);
          found.add(expected);
          expect(isInWaitingCycle(graph, id)).toBe(expected);
        }
      }),
      { numRuns },
    );
    expect(found.size).toBe(2);
  });

  it('COL-10C finds a long circle as well, and one beside many dependents that do not wait', () => {
    const graph = graphOf(
      ...Array.from({ length: 20_000 }, (_, i) =>
        observed(pods, { uid: `${i}`, owners: [blocks(`${(i + 1) % 20_000}`)], ...WAITING }),
      ),
      observed(pods, { uid: 'a', owners: [blocks('b')], ...WAITING }),
      observed(pods, { uid: 'b', owners: [blocks('a')], ...WAITING }),
      ...leavesOf('a', 2000),
    );
    expect(isInWaitingCycle(graph, graph.find('7'))).toBe(true);
    expect(isInWaitingCycle(graph, graph.find('a'))).toBe(true);
  });
});

const leavesOf = (uid: string, count: number): GraphEvent[] =>
  Array.from({ length: count }, (_, i) =>
    observed(pods, { uid: `leaf-${uid}-${i}`, owners: [ref(uid, { blockOwnerDeletion: true })] }),
  );

/** The definition of a cycle: a walk from a node down through blocking dependents that wait, and back to the node. */
function comesBackDownwards(graph: Graph, start: NodeId): boolean {
  const seen = new Set<NodeId>();
  const open = [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    graph.forEachBlockingDependent(id, (dependent) => {
      if (!graph.isDeletingDependents(dependent) || seen.has(dependent)) return;
      seen.add(dependent);
      open.push(dependent);
    });
  }
  return seen.has(start);
}

describe('the cost of a decision about a waiting owner', () => {
  /** Counts the visited nodes. */
  class CountingGraph extends OwnershipGraph {
    dependentsSeen = 0;
    ownersSeen = 0;

    override forEachDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void {
      super.forEachDependent(id, (dependent) => {
        this.dependentsSeen++;
        return visit(dependent);
      });
    }

    override forEachOwner(id: NodeId, visit: (owner: NodeId, blocking: boolean, kind: number) => void): void {
      super.forEachOwner(id, (...owner) => {
        this.ownersSeen++;
        visit(...owner);
      });
    }
  }

  /** How many dependents and owners are visited when the facts of this object are gathered. */
  const looksAt = (graph: CountingGraph, uid: string): { dependents: number; owners: number } => {
    graph.dependentsSeen = 0;
    graph.ownersSeen = 0;
    expect(gatherFacts(source(graph), round({ uid })).node?.inWaitingCycle).toBe(false);
    return { dependents: graph.dependentsSeen, owners: graph.ownersSeen };
  };
  const blocks = (uid: string) => ref(uid, { blockOwnerDeletion: true });
  const add = (graph: OwnershipGraph, events: readonly GraphEvent[]): void => {
    for (const event of events) apply(graph, event, []);
  };

  it('COL-103 not the number of those that block it: it is processed after each of them', () => {
    const graph = new CountingGraph();
    add(graph, [observed(pods, { uid: 'a', ...WAITING }), ...leavesOf('a', 10_000)]);
    expect(looksAt(graph, 'a')).toEqual({ dependents: 0, owners: 0 });
    add(graph, [observed(pods, { uid: 'b', owners: [blocks('a')], ...WAITING }), ...leavesOf('b', 10_000)]);
    expect(looksAt(graph, 'a')).toEqual({ dependents: 0, owners: 0 });
    expect(looksAt(graph, 'b')).toEqual({ dependents: 0, owners: 1 });
  });

  it('nor that of its owners above it, where few wait below', () => {
    const graph = new CountingGraph();
    let most = 0;
    for (let i = 0; i < 2000; i++) {
      add(graph, [
        observed(pods, { uid: `${i}`, owners: [blocks(`${i - 1}`)], ...WAITING }),
        observed(pods, { uid: `${i + 1}`, owners: [blocks(`${i}`)] }),
      ]);
      const { dependents, owners } = looksAt(graph, `${i}`);
      most = Math.max(most, dependents + owners);
    }
    expect(most).toBeLessThan(200);
  });

  it('and nothing like the number of dependents where both are many', () => {
    const graph = new CountingGraph();
    const chain = Array.from({ length: 1000 }, (_, i) =>
      observed(pods, { uid: `${i}`, owners: [blocks(`${i - 1}`)], ...WAITING }),
    );
    add(graph, [...chain, ...leavesOf('999', 100_000)]);
    const { dependents, owners } = looksAt(graph, '999');
    expect(dependents + owners).toBeLessThan(10_000);
  });
});

describe('orphan rounds', () => {
  it('COL-120 begin with the dependents of that moment, the object itself not among them', () => {
    const graph = graphOf(
      observed(pods, { uid: 'a', owners: [ref('a')], deleting: true, finalizers: ['orphan', 'x/y'] }),
      observed(pods, { uid: 'b', owners: [ref('a')] }),
    );
    const begun = beginOrphanRound(source(graph), 'a', { triedBefore: false });
    apply(graph, observed(pods, { uid: 'c', owners: [ref('a')] }), []);
    expect(gatherOrphanFacts(source(graph), begun)).toMatchObject({
      dependents: ['b'],
      released: 'unasked',
      node: { orphanFinalizer: true, otherFinalizers: true },
    });
    expect(gatherOrphanFacts(source(new OwnershipGraph()), begun).node).toBeUndefined();
  });

  it('COL-122 COL-120 rest on the owner as it was read, with the dependents of then, only while the graph is not trusted', () => {
    const graph = graphOf(observed(pods, { uid: 'a', deleting: true, finalizers: ['orphan'], resourceVersion: '7' }));
    const target = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'a', uid: 'a' };
    const object = liveObjectOf({ uid: 'a', name: 'a', namespace: 'ns', resourceVersion: '9', finalizers: ['orphan'] });
    const round = beginOrphanRound(source(graph), 'a', { triedBefore: true });
    apply(graph, observed(pods, { uid: 'b', owners: [ref('a')] }), []);
    const read = (trust: FactSource['trust'], latest: Round['latest']) =>
      lookedAtOwner({ ...source(graph), trust }, round, latest);
    const found = { state: 'found', target, object } as const;
    expect(read('trusted', found)).toMatchObject({ latest: found, version: '7', dependents: [] });
    expect(read('untrusted', found)).toMatchObject({ latest: found, version: '9', dependents: ['b'] });
    const failed = { state: 'error', target } as const;
    expect(read('untrusted', failed)).toMatchObject({ latest: failed, version: '7', dependents: [] });
  });

  it('COL-122 COL-120 asks anew which dependents are orphaned when the owner is processed once more', () => {
    const graph = graphOf(observed(pods, { uid: 'a', deleting: true, finalizers: ['orphan'], resourceVersion: '7' }));
    const begun = beginOrphanRound(source(graph), 'a', { triedBefore: true });
    const answered = { ...begun, released: 'all', barrier: 'clear', foundReleased: 'all' } as const;
    const target = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'a', uid: 'a' };
    const object = liveObjectOf({ uid: 'a', name: 'a', namespace: 'ns', resourceVersion: '9', finalizers: ['orphan'] });
    const untrusted = { ...source(graph), trust: 'untrusted' } as const;
    const { released, barrier, foundReleased } = lookedAtOwner(untrusted, answered, { state: 'found', target, object });
    expect([released, barrier, foundReleased]).toEqual(['unasked', 'unasked', 'unasked']);
  });

  it('COL-164 the finalizer of a foreground deletion is one of those that stay', () => {
    const graph = graphOf(
      observed(pods, { uid: 'a', deleting: true, finalizers: ['orphan', 'foregroundDeletion'] }),
      observed(pods, { uid: 'b', deleting: true, finalizers: ['orphan'] }),
    );
    const othersOf = (uid: string) =>
      gatherOrphanFacts(source(graph), beginOrphanRound(source(graph), uid, { triedBefore: false })).node
        ?.otherFinalizers;
    expect(othersOf('a')).toBe(true);
    expect(othersOf('b')).toBe(false);
  });
});

describe('COL-002 a reference that is wrong about its owner', () => {
  const uidGone = (reference: ReturnType<typeof ref>, ...events: GraphEvent[]) => {
    const graph = graphOf(...events, observed(pods, { uid: 'a', owners: [reference] }));
    return gatherFacts(source(graph), round()).owners[0]?.uidGone;
  };
  const went: GraphEvent[] = [
    observed(pods, { uid: 'o' }),
    observed(pods, { uid: 'b', owners: [ref('o')] }),
    deleted(pods, 'o'),
  ];

  it.each<[string, true | undefined, ReturnType<typeof ref>, GraphEvent[]]>([
    ['may yet be meant for an object that lives', undefined, ref('o', { name: 'x' }), [observed(pods, { uid: 'o' })]],
    ['or for one that was never seen', undefined, ref('o', { name: 'x' }), []],
    ['not for one that was seen to go', true, ref('o'), went],
    ['but who knows, if it went by another name', undefined, ref('o', { name: 'x' }), went],
  ])('%s', (_, gone, reference, events) => {
    expect(uidGone(reference, ...events)).toBe(gone);
  });
});

describe('COL-111 COL-002 an absence that was proven before the graph lost trust', () => {
  type Kind = 'served' | 'not served' | 'not served, as was read since';
  const second = nextEpoch(FIRST_EPOCH);
  const facts = (trust: FactSource['trust'], kind: Kind, prove: (cache: AbsentOwnerCache) => void) => {
    const graph = graphOf(
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      deleted(pods, 'o'),
    );
    const absentOwners = new AbsentOwnerCache();
    prove(absentOwners);
    const provenSince = (): Epoch => second;
    const from = {
      ...source(graph, absentOwners),
      trust,
      provenSince,
      kindsReadSince: kind === 'not served, as was read since',
    };
    return gatherFacts(kind === 'served' ? from : { ...from, mapping: () => undefined }, round()).owners[0];
  };
  const notedIn =
    (epoch: Epoch) =>
    (cache: AbsentOwnerCache): void =>
      cache.note({ ...ref('o'), namespace: 'ns' }, epoch);

  it.each([
    ['counts while the graph is trusted', 'trusted', 'served', () => undefined, true],
    ['and of a kind that is not served', 'trusted', 'not served', () => undefined, true],
    ['does not while it is not', 'untrusted', 'served', () => undefined, false],
    ['nor if it is in the cache', 'untrusted', 'served', notedIn(FIRST_EPOCH), false],
    ['does if it was proven since', 'untrusted', 'served', notedIn(second), true],
    ['not of a kind that may have come back', 'untrusted', 'not served', () => undefined, false],
    ['but of one that has not (BETTER-15)', 'untrusted', 'not served, as was read since', () => undefined, true],
  ] as const)('%s', (_, trust, kind, prove, known) => {
    expect(facts(trust, kind, prove)?.knownAbsent).toBe(known);
  });

  it('asks since when the absence of an owner of this apiVersion must be proven', () => {
    const widget = ref('w', { apiVersion: 'example.com/v1', kind: 'Widget' });
    const graph = graphOf(observed(pods, { uid: 'a', owners: [widget, ref('p')] }));
    const absentOwners = new AbsentOwnerCache();
    for (const owner of [widget, ref('p')]) absentOwners.note({ ...owner, namespace: 'ns' });
    const provenSince = (apiVersion: string): Epoch => (apiVersion === 'v1' ? FIRST_EPOCH : second);
    const from = { ...source(graph, absentOwners), trust: 'untrusted', provenSince } as const;
    expect(gatherFacts(from, round()).owners.map(({ knownAbsent }) => knownAbsent)).toEqual([false, true]);
  });
});

describe('the version that a read of the object names', () => {
  const graph = graphOf(observed(pods, { uid: 'a', resourceVersion: '7' }));

  it('COL-116 is that of the graph while no watch shows the object, so that a replica that lags cannot call it gone', () => {
    const lost = gatherFacts({ ...source(graph), follows: () => false }, round()).node;
    expect(lost).toMatchObject({ shown: false, notOlderThan: '7' });
  });

  it('COL-116 is none while a watch shows it, because an answer that it is gone is then asked again', () => {
    expect(gatherFacts(source(graph), round()).node).toMatchObject({ shown: true, notOlderThan: undefined });
  });
});
