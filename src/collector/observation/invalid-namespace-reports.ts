import type { Logger } from '../../base/logs/logger.ts';
import type { ObjectReference } from '../../client/events/event-correlator.ts';
import { type EventRecorder, MAX_QUEUED_EVENTS } from '../../client/events/event-recorder.ts';
import type { InvalidNamespaceReport } from '../graph/effect.ts';
import type { Graph } from '../graph/graph.ts';
import { invalidNamespaceEvent } from './invalid-namespace-event.ts';

export interface InvalidNamespaceReportsOptions {
  readonly graph: Graph;
  readonly logger: Logger;
  readonly recorder: Pick<EventRecorder, 'event' | 'takeWaiting'>;
}

/** Linkings that were not told of; as many as the recorder has place for when a term begins. Of more, the newest count. */
const MAX_UNTOLD = MAX_QUEUED_EVENTS;

/**
 * Tells of references across namespaces (COL-143): a warning and an Event for each linking, while this process leads. While another
 * one does, that one tells of them. What was linked meanwhile is kept, and told of when a term begins as far as it is still there:
 * what a new leader of Kubernetes reports, which lists everything then. Linkings that were told of are not kept, so that a lease
 * that is lost and won again repeats none.
 */
export class InvalidNamespaceReports {
  readonly #options: InvalidNamespaceReportsOptions;
  /** By dependent and owner, the newest last. At most twice {@link MAX_UNTOLD}, so that it is swept once in as many reports. */
  readonly #untold = new Map<string, InvalidNamespaceReport>();
  /** What the recorder was given, by the object that it knows it by. */
  readonly #recorded = new WeakMap<ObjectReference, InvalidNamespaceReport>();
  #leads = false;

  constructor(options: InvalidNamespaceReportsOptions) {
    this.#options = options;
  }

  /** Linkings that are kept, some of which may be of the past. */
  get untold(): number {
    return this.#untold.size;
  }

  /** A dependent was linked to an owner that is in another namespace. */
  readonly report = (report: InvalidNamespaceReport): void => {
    if (this.#leads) this.#tell(report);
    else this.#keep(report);
  };

  /** From now on this process leads. O(linkings kept). */
  beginTerm(): void {
    this.#leads = true;
    this.#sweep();
    const untold = [...this.#untold.values()];
    this.#untold.clear();
    for (const report of untold) this.#tell(report);
  }

  /**
   * Another one may lead now; the recorder does not run any more. Linkings that it did not come to write are kept for the next term,
   * other Events are lost (COL-146).
   */
  endTerm(): void {
    this.#leads = false;
    for (const { involvedObject } of this.#options.recorder.takeWaiting()) {
      const report = this.#recorded.get(involvedObject);
      if (report !== undefined) this.#keep(report);
    }
  }

  #tell(report: InvalidNamespaceReport): void {
    const { logger, recorder } = this.#options;
    const { involvedObject, event } = invalidNamespaceEvent(report);
    logger.warn(event.message, { dependent: report.dependent, reason: event.reason });
    this.#recorded.set(involvedObject, report);
    recorder.event(involvedObject, event);
  }

  #keep(report: InvalidNamespaceReport): void {
    const key = `${report.dependent.uid} ${report.ownerReference.uid}`;
    this.#untold.delete(key);
    this.#untold.set(key, report);
    if (this.#untold.size === 2 * MAX_UNTOLD) this.#sweep();
  }

  /** Leaves what still is as it was reported, in the words that hold now, and of that the newest. */
  #sweep(): void {
    for (const [key, report] of this.#untold) {
      const now = this.#asItIsNow(report);
      if (now === undefined) this.#untold.delete(key);
      else this.#untold.set(key, now);
    }
    for (const key of this.#untold.keys()) {
      if (this.#untold.size <= MAX_UNTOLD) return;
      this.#untold.delete(key);
    }
  }

  /** Undefined when the dependent or the owner is not observed any more, or the reference is gone. No uid moves to another namespace. */
  #asItIsNow({ dependent, ownerReference, ...report }: InvalidNamespaceReport): InvalidNamespaceReport | undefined {
    const { graph } = this.#options;
    const id = graph.find(dependent.uid);
    const owner = graph.find(ownerReference.uid);
    if (id < 0 || owner < 0 || !graph.isObserved(owner)) return undefined;
    const reference = graph.ownerReferencesAt(id).find(({ uid }) => uid === ownerReference.uid);
    return reference && { ...report, dependent: graph.identityAt(id), ownerReference: reference };
  }
}
