import type { Clock } from '../../../base/time/clock.ts';
import type { Metrics } from '../../../base/metrics/metrics.ts';
import type { Graph, NodeId } from '../../graph/graph.ts';
import type { GraphEvent } from '../../types/event.ts';
import type { Uid } from '../../types/identity.ts';
import { uidOfColumns } from '../../types/object-columns.ts';
import { type Holder, HOLDERS, holdersOf } from './holder.ts';

/** Maximum number of objects whose deletionTimestamp is kept. Others are counted, but their age is not known. */
const MOST = 100_000;

/** A number of objects, and the age of the oldest, ms. */
interface Aged {
  readonly count: number;
  readonly oldestMs: number;
}

interface TerminatingSummary {
  readonly byHolder: ReadonlyMap<Holder, Aged>;
  /** Owners that wait for their dependents. */
  readonly waitingOwners: Aged;
}

/** The times since when objects terminate; the graph has their other data. Bound: {@link MOST} uids. */
export class TerminatingObjects {
  readonly #graph: Graph;
  readonly #clock: Clock;
  /** Seconds since 1970, in the order in which the objects were first seen to terminate. */
  readonly #since = new Map<Uid, number>();

  constructor(graph: Graph, clock: Clock) {
    this.#graph = graph;
    this.#clock = clock;
  }

  /** Takes an event of a monitor. Costs one comparison unless the object terminates or an object is gone. */
  take(event: GraphEvent): void {
    if (event.type === 'observedColumns') {
      if (!event.columns.deleting) return;
      const uid = uidOfColumns(event.columns);
      // A deletion that is repeated with a shorter grace period brings the timestamp forward.
      if (this.#since.size < MOST || this.#since.has(uid)) this.#since.set(uid, event.columns.deletionSeconds);
    } else if (event.type === 'deletedColumns' && this.#since.size > 0) {
      this.#since.delete(uidOfColumns(event.columns));
    }
  }

  /** `deletionTimestamp` in ms since 1970; undefined where it is not known. */
  sinceOf(uid: Uid): number | undefined {
    const seconds = this.#since.get(uid);
    return seconds === undefined || Number.isNaN(seconds) ? undefined : seconds * 1000;
  }

  /** How long an object has terminated, ms. It is 0 while its grace period lasts, and if its deletionTimestamp is not known. */
  ageOf(uid: Uid): number {
    const since = this.sinceOf(uid);
    return since === undefined ? 0 : Math.max(0, this.#clock.now() - since);
  }

  /** Calls back once for each terminating object whose age is known, in the order in which they were first seen. O(terminating objects). */
  forEach(visit: (id: NodeId, uid: Uid) => void): void {
    for (const uid of this.#since.keys()) {
      const id = this.#graph.find(uid);
      // A read or a relist showed that the object is gone, or a restored server has undone its deletion.
      if (id < 0 || !this.#graph.isBeingDeleted(id)) this.#since.delete(uid);
      else visit(id, uid);
    }
  }

  /** Counts all objects that are being deleted. O(nodes). */
  summary(): TerminatingSummary {
    const byHolder = new Map(HOLDERS.map((holder) => [holder, { count: 0, oldestMs: 0 }]));
    const waitingOwners = { count: 0, oldestMs: 0 };
    this.#graph.forEachNode((id) => {
      const waits = this.#graph.isWaiting(id);
      const isBeingDeleted = this.#graph.isBeingDeleted(id);
      if (!waits && !isBeingDeleted) return;
      const ageMs = this.ageOf(this.#graph.uidAt(id));
      if (waits) add(waitingOwners, ageMs);
      if (isBeingDeleted) add(byHolder.get(holdersOf(this.#graph, id)[0])!, ageMs);
    });
    return { byHolder, waitingOwners };
  }
}

function add(sum: { count: number; oldestMs: number }, ageMs: number): void {
  sum.count++;
  sum.oldestMs = Math.max(sum.oldestMs, ageMs);
}

/** The gauges of terminating objects (BETTER-21). A scrape, which reads all gauges in one synchronous turn, costs one walk over the graph. */
export function terminatingGauges(metrics: Metrics, terminating: Pick<TerminatingObjects, 'summary'>): void {
  let thisTurn: TerminatingSummary | undefined;
  const summary = (): TerminatingSummary => {
    if (thisTurn !== undefined) return thisTurn;
    void Promise.resolve().then(() => (thisTurn = undefined));
    return (thisTurn = terminating.summary());
  };
  metrics.gauge({
    name: 'kubegc_collector_waiting_owners',
    help: 'Objects that are being deleted and wait for their dependents',
    collect: (gauge) => gauge.set(summary().waitingOwners.count),
  });
  metrics.gauge({
    name: 'kubegc_collector_oldest_waiting_owner_seconds',
    help: 'Time since the deletionTimestamp of the oldest of them',
    collect: (gauge) => gauge.set(summary().waitingOwners.oldestMs / 1000),
  });
  metrics.gauge({
    name: 'kubegc_collector_terminating_objects',
    help: 'Objects that are being deleted, by the holder that explains most',
    labelNames: ['held_by'],
    collect: (gauge) => {
      for (const [holder, { count }] of summary().byHolder) gauge.set(count, { held_by: holder });
    },
  });
  metrics.gauge({
    name: 'kubegc_collector_oldest_terminating_object_seconds',
    help: 'Time since the deletionTimestamp of the oldest of them, by holder',
    labelNames: ['held_by'],
    collect: (gauge) => {
      for (const [holder, { oldestMs }] of summary().byHolder) gauge.set(oldestMs / 1000, { held_by: holder });
    },
  });
}
