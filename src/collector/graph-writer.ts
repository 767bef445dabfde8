import type { Clock } from '../base/time/clock.ts';
import type { Counter, Metrics } from '../base/metrics/metrics.ts';
import { queueMetrics } from '../workqueue/metrics.ts';
import type { AbsentOwnerCache } from './caches/absent-owner-cache.ts';
import { apply } from './graph/apply.ts';
import type {
  ApplyOutcome,
  DropAbsentOwnerEffect,
  Effect,
  HeldAbsencesEffect,
  InvalidNamespaceReport,
  NoteAbsentOwnerEffect,
} from './graph/effect.ts';
import type { Epoch } from './types/epoch.ts';
import type { GraphEvent } from './types/event.ts';
import type { Uid } from './types/identity.ts';
import { type ObjectColumns, uidOfColumns } from './types/object-columns.ts';
import type { OwnershipGraph } from './graph/ownership-graph.ts';
import { parseWorkKey, workKey } from './queues/work-key.ts';
import { type OnQueued, QUEUE_NAMES, type Queues } from './queues/queues.ts';

interface GraphWriterOptions {
  readonly graph: OwnershipGraph;
  readonly absentOwners: AbsentOwnerCache;
  /** The present epoch; see Trust. */
  readonly epoch: () => Epoch;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly report: (report: InvalidNamespaceReport) => void;
  /** Called with a list that lacked too many objects to be trusted. */
  readonly onHeld?: (effect: HeldAbsencesEffect) => void;
  /** Called with everything that is queued, and why. */
  readonly onQueued?: OnQueued;
  /** Called with the absences that the cache must remember or forget, and why. */
  readonly onAbsence?: (effect: NoteAbsentOwnerEffect | DropAbsentOwnerEffect) => void;
}

/** Time until a backed-off key is tried again because of {@link GraphWriter.touched}, ms. */
const TOUCHED_MS = 1000;

const LABELS = { name: QUEUE_NAMES.graphChanges };

/**
 * The only place that writes the graph (COL-043, designs/0002): applies an event and carries out its effects in their order. Synchronous,
 * so no worker ever sees a half-applied event.
 */
export class GraphWriter {
  readonly #options: GraphWriterOptions;
  readonly #adds: Counter;
  /** Reused; emptied after every event. */
  readonly #effects: Effect[] = [];
  #events = 0;

  constructor(options: GraphWriterOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    // The queue of graph changes as Kubernetes would show it (COL-190): every event counts as added, and no event ever waits.
    queueMetrics({ ...LABELS, clock, metrics, startTimes: () => [] });
    this.#adds = metrics.counter({
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
      labelNames: ['name'],
    });
  }

  /** Events applied so far; lets a waiting test see that something happened. */
  get events(): number {
    return this.#events;
  }

  /**
   * `epoch`: the epoch in which the read that caused the event began, for the absences that the event proves. Default: the present epoch.
   */
  readonly apply = (event: GraphEvent, epoch?: Epoch): ApplyOutcome => {
    const { graph } = this.#options;
    const effects = this.#effects;
    this.#events++;
    this.#adds.inc(LABELS);
    try {
      const outcome = apply(graph, event, effects);
      // Wakes keys first, so that keys that the effects delay stay delayed. A virtual delete wakes nothing: nobody observed it. It results
      // from work on a key, and would wake just that key.
      const changed = outcome === 'changed' || outcome === 'wentBack';
      if (changed && event.type !== 'virtualDelete') this.#wake(event);
      for (const effect of effects) this.#carryOut(effect, epoch);
      return outcome;
    } finally {
      effects.length = 0;
    }
  };

  /** Queues an object that waits for its dependents, or for them to be orphaned, as if the wait had begun just now. */
  readonly lookAgain = (columns: ObjectColumns): void => {
    const { attemptToDelete, attemptToOrphan } = this.#options.queues;
    const uid = uidOfColumns(columns);
    const key = workKey(uid, 'observed');
    if (columns.orphanFinalizer) {
      this.#options.onQueued?.({ queue: 'attemptToOrphan', uid, as: 'observed' }, 'waitingListed');
      attemptToOrphan.add(key);
    }
    if (columns.foregroundFinalizer) {
      this.#options.onQueued?.({ queue: 'attemptToDelete', uid, as: 'observed' }, 'waitingListed');
      attemptToDelete.add(key);
    }
  };

  /**
   * A change that the graph ignores may matter to a policy or to the object's schema, which refused a write. The object's backed-off key is
   * ready within a second (BETTER-8). It is not ready at once, because such changes may come without a pause. Costs nothing while no key
   * waits.
   */
  readonly touched = (columns: ObjectColumns): void => {
    const { attemptToDelete, attemptToOrphan } = this.#options.queues;
    if (attemptToDelete.delayed + attemptToOrphan.delayed === 0) return;
    const key = workKey(uidOfColumns(columns), 'observed');
    attemptToDelete.hasten(key, TOUCHED_MS);
    attemptToOrphan.hasten(key, TOUCHED_MS);
  };

  #carryOut(effect: Effect, epoch: Epoch | undefined): void {
    const { absentOwners, queues, report } = this.#options;
    switch (effect.effect) {
      case 'enqueue': {
        const queue = queues[effect.queue];
        this.#options.onQueued?.(effect, effect.reason);
        if (effect.delay === 'rateLimited') queue.addRateLimited(workKey(effect.uid, effect.as));
        else queue.addUid(effect);
        return;
      }
      case 'noteAbsentOwner':
        this.#options.onAbsence?.(effect);
        return absentOwners.note(effect.identity, epoch ?? this.#options.epoch());
      case 'dropAbsentOwner':
        this.#options.onAbsence?.(effect);
        return absentOwners.drop(effect.uid);
      case 'reportInvalidNamespace':
        return report(effect);
      case 'heldAbsences':
        return this.#options.onHeld?.(effect);
    }
  }

  /**
   * Makes a backed-off key ready again when its object or one of its owners changed (BETTER-8), even if that was during the failed attempt.
   * Costs nothing while no key waits or is in work.
   */
  #wake(event: GraphEvent): void {
    const { graph, queues } = this.#options;
    const { attemptToDelete, attemptToOrphan } = queues;
    if (attemptToDelete.delayed + attemptToOrphan.delayed === 0) {
      if (attemptToDelete.processing + attemptToOrphan.processing === 0) return;
      if ('columns' in event && !event.columns.uidIsText) return this.#wakeInWork(event.columns);
    }
    const uid = uidOf(event);
    if (uid === undefined) return this.wakeAll();
    this.#wakeUid(uid);
    for (const dependent of graph.dependents(uid)) this.#wakeUid(dependent);
  }

  /**
   * Checks the keys in work and not the dependents: few keys are in work, while an owner may have any number of dependents. Every event of
   * a cascade calls this.
   */
  #wakeInWork(columns: ObjectColumns): void {
    const { graph, queues } = this.#options;
    const { attemptToDelete, attemptToOrphan } = queues;
    const referredTo = graph.isReferredTo(columns);
    for (const queue of [attemptToDelete, attemptToOrphan]) {
      queue.wakeInWork(columns);
      if (!referredTo) continue;
      for (const key of queue.inWork()) if (graph.refersTo(parseWorkKey(key).uid, columns)) queue.wake(key);
    }
  }

  #wakeUid(uid: Uid): void {
    const { attemptToDelete, attemptToOrphan } = this.#options.queues;
    attemptToDelete.wake(workKey(uid, 'observed'));
    attemptToDelete.wake(workKey(uid, 'virtual'));
    attemptToOrphan.wake(workKey(uid, 'observed'));
  }

  /**
   * Wakes all keys, because discovery changed, or something that concerns every object. Keys that could not be resolved may be resolvable
   * now (BETTER-8).
   */
  wakeAll(): void {
    this.#options.queues.attemptToDelete.wakeAll();
    this.#options.queues.attemptToOrphan.wakeAll();
  }
}

/** The uid of the object that an event is about; undefined for events that concern a whole resource. */
function uidOf(event: GraphEvent): Uid | undefined {
  switch (event.type) {
    case 'observed':
      return event.object.uid;
    case 'deleted':
      return event.uid;
    case 'observedColumns':
    case 'deletedColumns':
      return uidOfColumns(event.columns);
    default:
      return undefined;
  }
}
