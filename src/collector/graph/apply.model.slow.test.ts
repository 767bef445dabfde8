import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { applied, apply } from './apply.ts';
import { checkInvariants } from './check-consistency.ts';
import type { Effect } from './effect.ts';
import type { GraphEvent, MonitoredResource, ObservedEvent } from '../types/event.ts';
import type { Identity } from '../types/identity.ts';
import { OwnershipGraph } from './ownership-graph.ts';
import { NaiveGraph } from './testing/naive-graph.ts';
import { nodes, pods, replicaSets, standbyPods } from './testing/events.ts';

const RESOURCES: readonly MonitoredResource[] = [pods, replicaSets, nodes, standbyPods];
/** One uid of each kind: kept as words, and kept as text. */
const UIDS = [
  '00000000-0000-0000-0000-000000000001',
  'u1',
  '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
  '00000001-0000-0000-0000-000000000000',
  'u2',
];

const uid = fc.constantFrom(...UIDS);
const name = fc.constantFrom('a', 'b', 'x'.repeat(300));
const kindOfReference = fc.constantFrom(
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v2', kind: 'Pod' },
);
const flag = fc.constantFrom({}, { blockOwnerDeletion: true }, { blockOwnerDeletion: false, controller: true });
const reference: fc.Arbitrary<OwnerReference> = fc
  .record({ words: kindOfReference, name: fc.oneof({ weight: 3, arbitrary: fc.constant('a') }, name), uid, flag })
  .map(({ words, flag: flags, ...rest }) => ({ ...words, ...rest, ...flags }));
const references = fc.uniqueArray(reference, { maxLength: 3, selector: (ref) => JSON.stringify(ref) });
const namespace = fc.oneof({ weight: 3, arbitrary: fc.constant('ns1') }, fc.constantFrom('ns2', ''));
const resource = fc.constantFrom(...RESOURCES);
const finalizers = fc.uniqueArray(fc.constantFrom('foregroundDeletion', 'orphan', 'x/y'), { maxLength: 2 });

const identity: fc.Arbitrary<Identity> = fc
  .record({ words: kindOfReference, name, uid, namespace })
  .map(({ words, ...rest }) => ({ ...words, ...rest }));

/**
 * An event, or a virtual delete for the identity that the graph has of a uid at that moment. Name and namespace of a uid under one resource
 * never change: those of observed objects come from the layout.
 */
type Command =
  | GraphEvent
  | { readonly type: 'disprove'; readonly uid: string }
  /** Observed with the references of the object observed last. */
  | { readonly type: 'sibling'; readonly uid: string; readonly resource: MonitoredResource };

type Place = { readonly name: string; readonly namespace: string };
type Layout = readonly Place[];

const layout: fc.Arbitrary<Layout> = fc.array(
  fc.record({ name: fc.oneof({ weight: 4, arbitrary: fc.constant('a') }, name), namespace }),
  { minLength: UIDS.length * RESOURCES.length, maxLength: UIDS.length * RESOURCES.length },
);

function placeOf(places: Layout, of: string, { kind }: MonitoredResource): Place {
  // One name of a uid is enough for two resources of one kind.
  return places[UIDS.indexOf(of) * RESOURCES.length + RESOURCES.findIndex((known) => known.kind === kind)]!;
}

const observedEvent: fc.Arbitrary<Command> = fc
  .record({
    resource,
    uid,
    name: fc.constant(''),
    namespace: fc.constant(''),
    resourceVersion: fc.constantFrom('1', '2', 'opaque'),
    ownerReferences: references,
    deleting: fc.boolean(),
    finalizers,
  })
  .map(({ resource: from, ...object }) => ({ type: 'observed', resource: from, object }));

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: observedEvent },
  {
    weight: 4,
    arbitrary: fc
      .record({ resource, uid, name, namespace })
      .map(({ resource: from, ...rest }): Command => ({ type: 'deleted', resource: from, ...rest })),
  },
  { weight: 2, arbitrary: identity.map((of): Command => ({ type: 'virtualDelete', identity: of })) },
  { weight: 3, arbitrary: uid.map((of): Command => ({ type: 'disprove', uid: of })) },
  {
    weight: 6,
    arbitrary: fc.record({ uid, resource }).map((of): Command => ({ type: 'sibling', ...of })),
  },
  { weight: 1, arbitrary: resource.map((of): Command => ({ type: 'listStarted', resource: of })) },
  {
    weight: 1,
    arbitrary: fc
      .record({ resource, objects: fc.integer({ min: 1, max: 4 }), isLimited: fc.boolean() })
      .map(({ resource: of, objects, isLimited }): Command => {
        return { type: 'listFinished', resource: of, ...(isLimited ? { limit: { objects, share: 0.5 } } : {}) };
      }),
  },
  { weight: 1, arbitrary: resource.map((of): Command => ({ type: 'resourceVanished', resource: { ...of } })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Command>({ type: 'historyReset' }, { type: 'historyReset', of: 'serverBeside' }),
  },
);

type PlainCommand = Exclude<Command, { readonly type: 'sibling' }>;

/** Makes events of commands. */
class History {
  readonly #places: Layout;
  #last: ObservedEvent | undefined;

  constructor(places: Layout) {
    this.#places = places;
  }

  next(graph: OwnershipGraph, asked: Command): GraphEvent | undefined {
    const event = eventOf(graph, this.#places, asked.type === 'sibling' ? this.#sibling(asked) : asked);
    if (event?.type === 'observed') this.#last = event;
    return event;
  }

  #sibling({ uid: of, resource: from }: Command & { readonly type: 'sibling' }): PlainCommand {
    if (this.#last === undefined) return { type: 'disprove', uid: of };
    return { ...this.#last, resource: from, object: { ...this.#last.object, uid: of } };
  }
}

function eventOf(graph: OwnershipGraph, places: Layout, asked: PlainCommand): GraphEvent | undefined {
  if (asked.type === 'observed') {
    return { ...asked, object: { ...asked.object, ...placeOf(places, asked.object.uid, asked.resource) } };
  }
  if (asked.type === 'deleted') return { ...asked, ...placeOf(places, asked.uid, asked.resource) };
  if (asked.type !== 'disprove') return asked;
  const recorded = graph.node(asked.uid)?.identity;
  return recorded === undefined ? undefined : { type: 'virtualDelete', identity: recorded };
}

function lines(effects: readonly Effect[]): Set<string> {
  return new Set(
    effects.map((effect) => {
      switch (effect.effect) {
        case 'enqueue': {
          if (effect.queue === 'attemptToOrphan') return `orphan ${effect.uid}`;
          const delay = effect.delay === 'none' ? '' : 'later ';
          return `${delay}${effect.as === 'virtual' ? '? ' : ''}${effect.uid}`;
        }
        case 'reportInvalidNamespace':
          return `report ${effect.dependent.uid} ${effect.ownerReference.uid}`;
        case 'noteAbsentOwner': {
          const { apiVersion, kind, namespace: at, name: called, uid: of } = effect.identity;
          return `absent ${[apiVersion, kind, at, called, of].join(' ')}`;
        }
        case 'dropAbsentOwner':
          return `alive ${effect.uid}`;
        case 'heldAbsences':
          return `held ${effect.resource.resource} ${effect.missing} of ${effect.known}`;
      }
    }),
  );
}

function compare(graph: OwnershipGraph, naive: NaiveGraph): void {
  expect(checkInvariants(graph)).toEqual([]);
  expect(graph.counts).toMatchObject({ nodes: naive.nodes.size, gone: naive.gone.size });
  const found: string[] = [];
  graph.forEachNode((id) => found.push(graph.uidAt(id)));
  expect(found.sort()).toEqual([...naive.nodes.keys()].sort());
  for (const [of, expected] of naive.nodes) {
    const { finalizers: held, refs, version, seen: _, behind: __, resource: shownBy, ...rest } = expected;
    expect(graph.resourceAt(graph.find(of)) ?? '').toBe(shownBy);
    expect(graph.node(of)).toMatchObject({
      ...rest,
      ownerReferences: refs,
      resourceVersion: version === 'opaque' ? undefined : version,
      foregroundFinalizer: held.includes('foregroundDeletion'),
      orphanFinalizer: held.includes('orphan'),
      otherFinalizers: held.includes('x/y'),
    });
    const dependents = naive.dependents(of);
    expect(graph.dependents(of).sort()).toEqual(dependents.map((dependent) => dependent.identity.uid).sort());
    const blocking = (ref: OwnerReference): boolean => ref.uid === of && ref.blockOwnerDeletion === true;
    const blockers = dependents.filter((dependent) => dependent.identity.uid !== of && dependent.refs.some(blocking));
    const blockedBy: string[] = [];
    graph.forEachBlockingDependent(graph.find(of), (id) => void blockedBy.push(graph.uidAt(id)));
    expect(blockedBy.sort()).toEqual(blockers.map((dependent) => dependent.identity.uid).sort());
    expect(graph.blockingDependents(graph.find(of)).count > 0).toBe(blockers.length > 0);
    expect(graph.missingOwners(graph.find(of))).toEqual(refs.filter((ref) => naive.gone.has(ref.uid)));
  }
  for (const [of, expected] of naive.gone) {
    expect(graph.find(of)).toBe(-1);
    expect(graph.isKnownGone(expected, expected.namespace)).toBe(true);
  }
}

describe('apply against a naive graph', () => {
  const RUNS = 400;

  it('COL-050...COL-079, COL-051 the same nodes, links and effects after every event', () => {
    const history = fc.array(command, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(layout, history, (places, commands) => {
        const graph = new OwnershipGraph();
        const naive = new NaiveGraph();
        const events = new History(places);
        for (const asked of commands) {
          const event = events.next(graph, asked);
          if (event === undefined) continue;
          const effects: Effect[] = [];
          const copy = graph.clone();
          apply(graph, event, effects);
          const expected = naive.apply(event);
          expect([...lines(effects)].sort()).toEqual([...expected].sort());
          compare(graph, naive);
          // A copy gives the same results, and an event of one does not change the other.
          const again: Effect[] = [];
          apply(copy, event, again);
          expect(again).toEqual(effects);
          expect(checkInvariants(copy)).toEqual([]);
        }
      }),
      { numRuns: RUNS, seed: 20261121 },
    );
  });

  it('BETTER-6 after everything was deleted nothing is left, not even a text', () => {
    const history = fc.array(command, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(layout, history, (places, commands) => {
        const graph = new OwnershipGraph();
        const events = new History(places);
        for (const asked of commands) {
          const event = events.next(graph, asked);
          if (event !== undefined) apply(graph, event, []);
        }
        for (const of of UIDS) {
          const found = graph.node(of);
          if (found?.state !== 'observed') continue;
          const { name: called, namespace: at } = found.identity;
          const from = RESOURCES.find(({ kind }) => kind === found.identity.kind)!;
          apply(graph, { type: 'deleted', resource: from, uid: of, name: called, namespace: at }, []);
        }
        for (const of of RESOURCES) apply(graph, { type: 'resourceVanished', resource: of }, []);
        expect(graph.counts).toEqual({ nodes: 0, virtual: 0, observed: 0, gone: 0, references: 0 });
        expect(graph.nodes.sharedTextCount).toBe(0);
        expect(graph.references.waitingCount).toBe(0);
        expect(graph.bytes.names.used).toBe(0);
      }),
      { numRuns: RUNS, seed: 20261121 },
    );
  });
});

/** Objects that fill pages and chunks. Each second one has two owners, and so rows in the table of references. */
function fill(graph: OwnershipGraph, count: number): void {
  for (let n = 0; n < count; n++) {
    const owners = UIDS.slice(0, 1 + (n % 2)).map((owner) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'a',
      uid: owner,
    }));
    const { name: called, namespace: at } = { name: `filler-${n}`, namespace: `ns${n % 3}` };
    const object = { uid: `00000000-0000-0000-0001-${String(n).padStart(12, '0')}`, name: called, namespace: at };
    const rest = { resourceVersion: '1', ownerReferences: owners, deleting: false, finalizers: [] };
    apply(graph, { type: 'observed', resource: pods, object: { ...object, ...rest } }, []);
  }
}

function factsOf(graph: OwnershipGraph): unknown {
  const facts: unknown[] = [graph.counts];
  graph.forEachNode((id) => {
    const of = graph.uidAt(id);
    facts.push([graph.at(id), graph.find(of), graph.resourceAt(id), graph.dependents(of), graph.missingOwners(id)]);
    facts.push(graph.blockingDependents(id));
  });
  return facts;
}

describe('a branch of a graph', () => {
  const LONGEST = 20;

  it('gives what a copy gives, and changes neither its graph nor another branch', () => {
    const history = fc.array(command, { maxLength: LONGEST });
    const fillers = fc.constantFrom(0, 40, 63, 150, 251, 256, 300);
    fc.assert(
      fc.property(layout, fillers, fc.tuple(history, history, history), (places, count, [first, ...others]) => {
        const graph = new OwnershipGraph();
        const before = new History(places);
        for (const asked of first) {
          const event = before.next(graph, asked);
          if (event !== undefined) apply(graph, event, []);
        }
        fill(graph, count);
        const rows = graph.nodes.table.rows.slice();
        const facts = factsOf(graph);
        const pairs = others.map((commands) => {
          return { commands, events: new History(places), branch: graph.branch(), copy: graph.clone() };
        });
        for (let step = 0; step < LONGEST; step++) {
          for (const { commands, events, branch, copy } of pairs) {
            const asked = commands[step];
            const event = asked === undefined ? undefined : events.next(copy, asked);
            if (event !== undefined) expect(applied(branch, event)).toEqual(applied(copy, event));
          }
        }
        for (const { branch, copy } of pairs) {
          expect(factsOf(branch)).toEqual(factsOf(copy));
          expect(checkInvariants(branch)).toEqual([]);
          // A branch of a branch is independent, too.
          const further = branch.branch();
          apply(further, { type: 'resourceVanished', resource: pods }, []);
          expect(factsOf(branch)).toEqual(factsOf(copy));
          expect(checkInvariants(further)).toEqual([]);
        }
        expect(factsOf(graph)).toEqual(facts);
        expect(graph.nodes.table.rows).toEqual(rows);
        expect(checkInvariants(graph)).toEqual([]);
      }),
      { numRuns: 60, seed: 20261128 },
    );
  });

  it('apply refuses the graph that a branch reads', () => {
    const graph = new OwnershipGraph();
    graph.branch();
    expect(() => apply(graph, { type: 'listStarted', resource: pods }, [])).toThrow('a branch reads');
  });
});
