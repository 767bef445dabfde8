import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../api/meta/object-meta.ts';
import { FakeClock } from '../base/time/fake-clock.ts';
import { MemoryMetrics } from '../base/metrics/memory-metrics.ts';
import { AbsentOwnerCache } from './caches/absent-owner-cache.ts';
import { FIRST_EPOCH, nextEpoch } from './types/epoch.ts';
import { ColumnsFromObject } from './graph/columns-from-object.ts';
import type { InvalidNamespaceReport } from './graph/effect.ts';
import type { MonitoredResource, ObservedObject } from './types/event.ts';
import { OwnershipGraph } from './graph/ownership-graph.ts';
import { workKey } from './queues/work-key.ts';
import { GraphWriter } from './graph-writer.ts';
import { createQueues, QUEUE_NAMES } from './queues/queues.ts';

const secrets: MonitoredResource = { apiVersion: 'v1', kind: 'Secret', resource: 'secrets' };
const uid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

const object = (n: number, more: Partial<ObservedObject> = {}): ObservedObject => ({
  uid: uid(n),
  name: `s${n}`,
  namespace: 'ns',
  resourceVersion: '1',
  ownerReferences: [],
  deleting: false,
  finalizers: [],
  ...more,
});
const to = (n: number, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name: `s${n}`,
  uid: uid(n),
  ...more,
});

function setUp() {
  const clock = new FakeClock();
  const metrics = new MemoryMetrics();
  const graph = new OwnershipGraph();
  const queues = createQueues({ clock, metrics, retryCapMs: 60_000 });
  const absentOwners = new AbsentOwnerCache();
  const reports: InvalidNamespaceReport[] = [];
  const report = (each: InvalidNamespaceReport): void => void reports.push(each);
  const writer = new GraphWriter({ graph, absentOwners, epoch: () => second, queues, clock, metrics, report });
  const { attemptToDelete, attemptToOrphan } = queues;
  /** Takes all keys that are ready from the queue. */
  const ready = (queue = attemptToDelete): string[] => {
    const found: string[] = [];
    for (let next = queue.tryGet(); next !== undefined && !next.shutdown; next = queue.tryGet()) {
      found.push(next.item);
      queue.done(next.item);
    }
    return found;
  };
  const observe = (each: ObservedObject) => writer.apply({ type: 'observed', resource: secrets, object: each });
  return { clock, metrics, graph, absentOwners, reports, writer, attemptToDelete, attemptToOrphan, ready, observe };
}

/** The present epoch. */
const second = nextEpoch(FIRST_EPOCH);

describe('GraphWriter', () => {
  it('COL-043 carries out the effects of an event: queues, absent owners, reports', () => {
    const { writer, ready, observe, absentOwners, reports } = setUp();
    observe(object(1));
    observe(object(2, { ownerReferences: [to(1)] }));
    observe(object(3, { ownerReferences: [to(1)], namespace: 'other' }));
    expect(reports.map(({ dependent }) => dependent.uid)).toEqual([uid(3)]);
    expect(ready()).toEqual([uid(3)]);
    writer.apply({ type: 'deleted', resource: secrets, uid: uid(1), name: 's1', namespace: 'ns' });
    expect(ready().toSorted()).toEqual([uid(2), uid(3)]);
    expect(absentOwners.has(to(1), 'ns')).toBe(true);
    observe(object(1));
    expect(absentOwners.has(to(1), 'ns')).toBe(false);
  });

  it('COL-111 COL-002 what a virtual delete proves is as old as the read behind it, what a watch shows is of now', () => {
    const { writer, observe, absentOwners } = setUp();
    for (const n of [1, 2]) observe(object(n));
    observe(object(3, { ownerReferences: [to(1), to(2)] }));
    const identity = { apiVersion: 'v1', kind: 'Secret', namespace: 'ns', name: 's1', uid: uid(1) };
    writer.apply({ type: 'virtualDelete', identity }, FIRST_EPOCH);
    expect([absentOwners.has(to(1), 'ns'), absentOwners.has(to(1), 'ns', second)]).toEqual([true, false]);
    writer.apply({ type: 'deleted', resource: secrets, uid: uid(2), name: 's2', namespace: 'ns' });
    expect(absentOwners.has(to(2), 'ns', second)).toBe(true);
  });

  it('COL-085 BETTER-8 a change wakes the keys of its object and of its dependents, and no other', () => {
    const { ready, observe, attemptToDelete, attemptToOrphan } = setUp();
    observe(object(1));
    observe(object(2, { ownerReferences: [to(1)] }));
    observe(object(3));
    for (const n of [1, 2, 3]) attemptToDelete.addAfter(uid(n), 60_000);
    attemptToOrphan.addAfter(uid(1), 60_000);
    observe(object(1, { resourceVersion: '2' }));
    expect(ready()).toEqual([]);
    observe(object(1, { resourceVersion: '3', deleting: true, finalizers: ['x.io/hold'] }));
    expect(ready().toSorted()).toEqual([uid(1), uid(2)]);
    expect(ready(attemptToOrphan)).toEqual([uid(1)]);
    expect(attemptToDelete.delayed).toBe(1);
  });

  it('COL-085 BETTER-8 a change that is none for the graph has the key of its object ready in a second, and no other', () => {
    const { writer, ready, observe, attemptToDelete, attemptToOrphan, clock } = setUp();
    const columns = new ColumnsFromObject();
    for (const n of [1, 2]) observe(object(n));
    for (const n of [1, 2]) attemptToDelete.addAfter(uid(n), 60_000);
    attemptToOrphan.addAfter(uid(1), 60_000);
    writer.touched(columns.observed(object(1, { resourceVersion: '2' })));
    clock.advance(999);
    expect([ready(), ready(attemptToOrphan)]).toEqual([[], []]);
    clock.advance(1);
    expect([ready(), ready(attemptToOrphan)]).toEqual([[uid(1)], [uid(1)]]);
    expect(attemptToDelete.delayed).toBe(1);
  });

  it.each(['observed', 'observedColumns'] as const)(
    'COL-085 BETTER-8 a change during the work on a key is as good as one after it, shown as %s',
    (type) => {
      const { writer, ready, observe, attemptToDelete, attemptToOrphan } = setUp();
      const columns = new ColumnsFromObject();
      const show = (each: ObservedObject): void => {
        if (type === 'observed') observe(each);
        else writer.apply({ type, resource: secrets, columns: columns.observed(each) });
      };
      const owned = { ownerReferences: [to(1)] };
      show(object(1));
      show(object(2, owned));
      show(object(3));
      const isWoken = { ready: [[uid(2)], [uid(2)]], delayed: 0 };
      const isNot = { ready: [[], []], delayed: 1 };
      for (const { change, expected } of [
        { change: () => show(object(2, { ownerReferences: [to(1, { controller: true })] })), expected: isWoken },
        { change: () => show(object(1, { deleting: true, finalizers: ['x.io/hold'] })), expected: isWoken },
        { change: () => writer.wakeAll(), expected: isWoken },
        { change: () => show(object(3, owned)), expected: isNot },
        { change: () => show(object(4)), expected: isNot },
      ]) {
        for (const queue of [attemptToDelete, attemptToOrphan]) {
          queue.forget(uid(2));
          queue.add(uid(2));
          queue.tryGet();
        }
        change();
        for (const queue of [attemptToDelete, attemptToOrphan]) {
          queue.addRateLimited(uid(2));
          queue.done(uid(2));
          expect(queue.delayed).toBe(expected.delayed);
        }
        expect([ready(), ready(attemptToOrphan)]).toEqual(expected.ready);
        writer.wakeAll();
        ready();
        ready(attemptToOrphan);
      }
    },
  );

  it('COL-085 BETTER-8 a virtual key in work is woken by what the graph sees of its object, and of the owner that goes', () => {
    const { writer, ready, attemptToDelete } = setUp();
    const columns = new ColumnsFromObject();
    writer.apply({ type: 'observedColumns', resource: secrets, columns: columns.observed(object(1)) });
    const owned = object(2, { ownerReferences: [to(1)] });
    for (const { key, event } of [
      { key: workKey(uid(2), 'virtual'), event: 'observedColumns' as const },
      { key: workKey(uid(2), 'observed'), event: 'deletedColumns' as const },
    ]) {
      attemptToDelete.add(key);
      attemptToDelete.tryGet();
      const shown = event === 'observedColumns' ? columns.observed(owned) : columns.observed(object(1));
      writer.apply({ type: event, resource: secrets, columns: shown });
      attemptToDelete.addRateLimited(key);
      attemptToDelete.done(key);
      expect([attemptToDelete.delayed, ready()]).toEqual([0, [key]]);
    }
  });

  it('COL-075 what an event puts off is not woken by it', () => {
    const { writer, ready, observe, attemptToDelete } = setUp();
    observe(object(2, { ownerReferences: [to(1), to(1, { name: 'other' })] }));
    expect(ready()).toContain(`?${uid(1)}`);
    for (const name of ['s1', 'other', 's1', 'other']) {
      const identity = { apiVersion: 'v1', kind: 'Secret', name, namespace: 'ns', uid: uid(1) };
      writer.apply({ type: 'virtualDelete', identity });
      expect(ready()).toEqual([uid(2)]);
      expect(attemptToDelete.delayed).toBe(1);
    }
  });

  it('COL-060 COL-063 queues an object again that waits already', () => {
    const { writer, ready, observe, attemptToOrphan } = setUp();
    const columns = new ColumnsFromObject();
    for (const [finalizer, queue] of [
      ['orphan', attemptToOrphan],
      ['foregroundDeletion', undefined],
    ] as const) {
      const waiting = object(1, { deleting: true, finalizers: [finalizer] });
      observe(waiting);
      ready();
      ready(attemptToOrphan);
      writer.lookAgain(columns.observed(waiting));
      expect(ready(queue)).toEqual([uid(1)]);
    }
  });

  it('COL-190 counts each event as an add of the queue that is not there', () => {
    const { observe, metrics } = setUp();
    observe(object(1));
    observe(object(1));
    const labels = { name: QUEUE_NAMES.graphChanges };
    expect(metrics.value('workqueue_adds_total', labels)).toBe(2);
    expect(metrics.value('workqueue_depth', labels)).toBe(0);
  });
});

describe('the queues', () => {
  it('COL-082 BETTER-8 double the wait of a key up to the cap', () => {
    const { attemptToDelete, clock } = setUp();
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      attemptToDelete.addRateLimited('a');
      waits.push(clock.nextTimerInMs ?? -1);
      clock.advance(60_000);
      attemptToDelete.tryGet();
      attemptToDelete.done('a');
    }
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(waits.slice(13, 16)).toEqual([40_960, 60_000, 60_000]);
  });
});
