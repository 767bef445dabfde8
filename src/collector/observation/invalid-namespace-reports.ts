import type { Logger } from '../../base/logs/logger.ts';
import type { ObjectReference } from '../../client/events/event-correlator.ts';
import { type EventRecorder, MAX_QUEUED_EVENTS } from '../../client/events/event-recorder.ts';
import type { InvalidNamespaceReport } from '../graph/effect.ts';
import type { Graph } from '../graph/graph.ts';
import { invalidNamespaceEvent } from './invalid-namespace-event.ts';

interface InvalidNamespaceReportsOptions {
  readonly graph: Graph;
  readonly logger: Logger;
  readonly recorder: Pick<EventRecorder, 'event' | 'takeWaiting'>;
}

/**
 * Maximum number of unreported references that are kept: as many as the recorder has place for when a term begins. Beyond it, the newest
 * are kept.
 */
const MAX_UNTOLD = MAX_QUEUED_EVENTS;

/**
 * Reports references across namespaces (COL-143) by a warning and an Event for each, while this process leads. While another process leads,
 * that one reports them. References that were found meanwhile are kept. Those that still exist are reported when a term begins, as a new
 * leader of Kubernetes reports them, because it lists everything then. Reported references are not kept, so that a lease that is lost and
 * won again repeats no report.
 */
export class InvalidNamespaceReports {
  readonly #options: InvalidNamespaceReportsOptions;
  /** Key: dependent and owner. The newest come last. At most twice {@link MAX_UNTOLD}, so that one sweep is enough for as many reports. */
  readonly #untold = new Map<string, InvalidNamespaceReport>();
  /** The report of each object that the recorder was given. */
  readonly #recorded = new WeakMap<ObjectReference, InvalidNamespaceReport>();
  #leads = false;

  constructor(options: InvalidNamespaceReportsOptions) {
    this.#options = options;
  }

  /** The number of kept reports. Some may be out of date. */
  get untold(): number {
    return this.#untold.size;
  }

  /** Takes the report that a dependent was linked to an owner in another namespace. */
  readonly report = (report: InvalidNamespaceReport): void => {
    if (this.#leads) this.#tell(report);
    else this.#keep(report);
  };

  /** From now on this process leads. O(kept reports). */
  beginTerm(): void {
    this.#leads = true;
    this.#sweep();
    const untold = [...this.#untold.values()];
    this.#untold.clear();
    for (const report of untold) this.#tell(report);
  }

  /**
   * Another process may lead now, and the recorder does not run any more. Reports that the recorder has not written are kept for the next
   * term. Other Events are lost (COL-146).
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

  /** Keeps only the reports that still hold, updated to the present state. If there are too many, the newest are kept. */
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

  /**
   * Undefined when the dependent or the owner is not observed any more, or the reference was removed. No uid moves to another namespace.
   */
  #asItIsNow({ dependent, ownerReference, ...report }: InvalidNamespaceReport): InvalidNamespaceReport | undefined {
    const { graph } = this.#options;
    const id = graph.find(dependent.uid);
    const owner = graph.find(ownerReference.uid);
    if (id < 0 || owner < 0 || !graph.isObserved(owner)) return undefined;
    const reference = graph.ownerReferencesAt(id).find(({ uid }) => uid === ownerReference.uid);
    return reference && { ...report, dependent: graph.identityAt(id), ownerReference: reference };
  }
}
