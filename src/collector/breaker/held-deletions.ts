import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { parseWorkKey, type WorkKey } from '../queues/work-key.ts';
import type { OnQueued, Queues } from '../queues/queues.ts';
import { KUBE_SYSTEM } from '../types/namespaces.ts';
import type { EventReason } from '../types/reasons.ts';
import { type Admission, CircuitBreaker, type Deletion, type DeletionLimits, type Trip } from './circuit-breaker.ts';

/** Annotation of Namespace kube-system: the ids of trips after which deletion continues, separated by commas. */
export const RESUME_DELETIONS = 'kubegc.io/resume-deletions';

/** Interval between two reads of the annotation while a deletion is held, ms. */
const READ_MS = 5000;
const ID_RANGE = 16 ** 8;
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' };

interface HeldDeletionsOptions {
  readonly limits: DeletionLimits;
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly queues: Queues;
  readonly onQueued: OnQueued;
}

/**
 * Connects a circuit breaker to the collector (CAS-074). Reports a trip by a log line, an Event and metrics. Reads whether somebody agrees
 * to continue, and then queues the keys that were held. A held key is in no queue, so it costs nothing until then.
 */
export class HeldDeletions {
  readonly #options: HeldDeletionsOptions;
  readonly #breaker: CircuitBreaker<WorkKey>;
  readonly #trips;
  #timer: Timer | undefined;
  /** Aborts the read that is under way. */
  #term = new AbortController();

  constructor(options: HeldDeletionsOptions) {
    const { limits, random, metrics } = options;
    this.#options = options;
    this.#breaker = new CircuitBreaker(limits, () => random.integer(ID_RANGE).toString(16).padStart(8, '0'));
    this.#trips = metrics.counter({
      name: 'kubegc_collector_breaker_trips_total',
      help: 'Times that a limit of deletions per minute was reached, by limit',
      labelNames: ['limit'],
    });
    metrics.gauge({
      name: 'kubegc_collector_held_deletions',
      help: 'Objects that are garbage and not deleted, because a limit of deletions per minute was reached',
      collect: (gauge) => gauge.set(this.#breaker.held),
    });
  }

  admit(key: WorkKey, deletion: Deletion): Admission {
    const { clock } = this.#options;
    const admission = this.#breaker.admit(key, deletion, clock.monotonic());
    if (admission.admission === 'held' && admission.tripped !== undefined) this.#tell(admission.tripped);
    return admission;
  }

  /** See {@link CircuitBreaker.takeBack}. */
  takeBack(admission: Extract<Admission, { admission: 'go' }>, object: 'stays' | 'may be gone'): void {
    this.#breaker.takeBack(admission, this.#options.clock.monotonic(), object);
  }

  /** Another process may lead now, and counts for itself. This process counts from zero when it leads again. */
  endTerm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#term.abort();
    this.#term = new AbortController();
    this.#queue(this.#breaker.reset());
  }

  #tell(trip: Trip): void {
    const { logger, recorder } = this.#options;
    const { cause, deleted, id } = trip;
    const reason: EventReason = 'DeletionsHeld';
    const limit = cause === undefined ? 'overall' : 'perCause';
    const because = cause === undefined ? '' : ` because of ${cause.kind} "${cause.name}" (uid ${cause.uid})`;
    const more = cause === undefined ? 'nothing more is deleted' : 'nothing more is deleted because of it';
    const command = `kubectl annotate namespace kube-system ${RESUME_DELETIONS}=${id} --overwrite`;
    const message = `${deleted} objects were deleted within a minute${because}: ${more} until somebody agrees: ${command}`;
    this.#trips.inc({ limit });
    logger.warn(message, { limit, deleted, id, reason, ...(cause === undefined ? {} : { cause: cause.uid }) });
    recorder.event(KUBE_SYSTEM, { type: 'Warning', reason, message });
    this.#readLater();
  }

  #readLater(): void {
    this.#timer ??= this.#options.clock.setTimer(READ_MS, () => void this.#read(this.#term.signal));
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#options;
    try {
      const target = { gvr: NAMESPACES, name: KUBE_SYSTEM.name };
      const { metadata } = await client.get<KubeObject>(target, { accept: ACCEPT_METADATA_JSON, signal });
      const ids = (metadata?.annotations?.[RESUME_DELETIONS] ?? '').split(',').map((id) => id.trim());
      if (signal.aborted) return;
      const { trips, keys } = this.#breaker.agree(ids, clock.monotonic());
      for (const { id, cause } of trips) {
        logger.info('deletions go on, because somebody agreed', { id, ...(cause && { cause: cause.uid }) });
      }
      this.#queue(keys);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn('cannot read whether deletions may go on, will retry', { error: messageOf(error) });
    }
    this.#timer = undefined;
    if (this.#breaker.trips.length > 0) this.#readLater();
  }

  #queue(keys: readonly WorkKey[]): void {
    const { queues, onQueued } = this.#options;
    for (const key of keys) {
      const { uid, queuedAs } = parseWorkKey(key);
      onQueued({ queue: 'attemptToDelete', uid, as: queuedAs }, 'deletionsResumed');
      queues.attemptToDelete.add(key);
    }
  }
}
