import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import type { EventOccurrence } from '../../client/events/event-correlator.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { applied } from '../graph/apply.ts';
import type { GraphEvent } from '../types/event.ts';
import { OwnershipGraph } from '../graph/ownership-graph.ts';
import { deleted, observed, pods, ref } from '../graph/testing/events.ts';
import { InvalidNamespaceReports } from './invalid-namespace-reports.ts';

/** The Events that wait to be written, as the recorder keeps them. */
class Waiting implements Pick<EventRecorder, 'event' | 'takeWaiting'> {
  #occurrences: EventOccurrence[] = [];

  event(involvedObject: EventOccurrence['involvedObject'], event: Parameters<EventRecorder['event']>[1]): void {
    this.#occurrences.push({ involvedObject, ...event, at: 0 });
  }

  takeWaiting(): EventOccurrence[] {
    return this.#occurrences.splice(0);
  }

  get messages(): string[] {
    return this.#occurrences.map(({ message }) => message);
  }

  get names(): string[] {
    return this.#occurrences.map(({ involvedObject }) => involvedObject.name);
  }
}

let graph: OwnershipGraph;
let waiting: Waiting;
let logger: MemoryLogger;
let reports: InvalidNamespaceReports;

beforeEach(() => {
  graph = new OwnershipGraph();
  waiting = new Waiting();
  logger = new MemoryLogger();
  reports = new InvalidNamespaceReports({ graph, logger, recorder: waiting });
  happens(observed(pods, { uid: 'o', namespace: 'elsewhere' }));
});

function happens(...events: readonly GraphEvent[]): void {
  for (const event of events) {
    for (const effect of applied(graph, event).effects) {
      if (effect.effect === 'reportInvalidNamespace') reports.report(effect);
    }
  }
}

const stray = (uid: string, ...owners: ReturnType<typeof ref>[]): GraphEvent =>
  observed(pods, { uid, owners: owners.length === 0 ? [ref('o')] : owners });
const warnings = (): number => logger.lines.filter(({ level }) => level !== 'debug').length;

describe('COL-143 references across namespaces', () => {
  it('are reported at once in a term, and not at all outside of one', () => {
    happens(stray('a'));
    expect([waiting.names, warnings()]).toEqual([[], 0]);
    reports.beginTerm();
    expect([waiting.names, warnings()]).toEqual([['a'], 1]);
    happens(stray('b'));
    expect([waiting.names, warnings()]).toEqual([['a', 'b'], 2]);
  });

  it.each<[string, readonly GraphEvent[]]>([
    ['the dependent went', [deleted(pods, 'a')]],
    ['the dependent went, and others refer to it', [stray('b', ref('a')), deleted(pods, 'a')]],
    ['the owner went', [deleted(pods, 'o', { namespace: 'elsewhere' })]],
    ['the reference was removed', [observed(pods, { uid: 'a', resourceVersion: '2' })]],
    ['nobody shows the owner any more', [{ type: 'resourceVanished', resource: pods }]],
  ])('are forgotten when a term begins, if %s', (_, events) => {
    happens(stray('a'), ...events);
    reports.beginTerm();
    expect([waiting.names, warnings()]).toEqual([[], 0]);
  });

  it('are reported in the words that hold at that time, once for a dependent and an owner', () => {
    happens(stray('a'), stray('a', ref('o', { name: 'x' })), observed(pods, { uid: 'p', namespace: 'elsewhere' }));
    // When references are linked, only the first wrong one is reported.
    happens(stray('a', ref('p'), ref('o', { name: 'y' })));
    reports.beginTerm();
    expect(waiting.messages).toEqual([
      'ownerRef [v1/Pod, namespace: ns, name: y, uid: o] does not exist in namespace "ns"',
      'ownerRef [v1/Pod, namespace: ns, name: p, uid: p] does not exist in namespace "ns"',
    ]);
  });

  it('are reported once by one process, however often it leads', () => {
    happens(stray('a'));
    reports.beginTerm();
    waiting.takeWaiting();
    happens(stray('b'));
    reports.endTerm();
    reports.endTerm();
    happens(stray('c'));
    reports.beginTerm();
    expect(waiting.names).toEqual(['b', 'c']);
    waiting.takeWaiting();
    reports.endTerm();
    reports.beginTerm();
    expect(waiting.names).toEqual([]);
  });

  it('COL-146 are all that is kept: another Event that waits when a term ends is lost', () => {
    reports.beginTerm();
    waiting.event({ name: 'a' }, { type: 'Normal', reason: 'Other', message: 'of a worker' });
    reports.endTerm();
    reports.beginTerm();
    expect(waiting.names).toEqual([]);
  });

  it('are kept as far as they live, a thousand at most, the newest', () => {
    happens(...Array.from({ length: 10 }, (_, i) => stray(`old-${i}`)));
    for (let i = 0; i < 5000; i++) happens(stray(`short-${i}`), deleted(pods, `short-${i}`));
    reports.beginTerm();
    expect(waiting.names).toEqual(Array.from({ length: 10 }, (_, i) => `old-${i}`));
    waiting.takeWaiting();
    reports.endTerm();
    let most = 0;
    for (let i = 0; i < 4321; i++) {
      happens(stray(`new-${i}`));
      most = Math.max(most, reports.untold);
    }
    expect(most).toBe(1999);
    happens(stray('new-4000', ref('o', { name: 'x' })));
    reports.beginTerm();
    const newest = Array.from({ length: 1000 }, (_, i) => `new-${3321 + i}`).filter((name) => name !== 'new-4000');
    expect(waiting.names).toEqual([...newest, 'new-4000']);
    expect(reports.untold).toBe(0);
  });
});
