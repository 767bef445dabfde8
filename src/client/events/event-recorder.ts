import { formatTime } from '../../api/meta/time.ts';
import { isAlreadyExists, isNotFound, StatusError } from '../../api/status-error.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { Ring } from '../../base/collections/ring.ts';
import type { Service } from '../../base/service.ts';
import {
  type Correlation,
  EventCorrelator,
  type CorrelatorOptions,
  type EventOccurrence,
  type EventType,
  type ObjectReference,
} from './event-correlator.ts';
import type { RestClient } from '../rest/rest-client.ts';

export interface EventRecorderOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
  readonly correlator?: Omit<CorrelatorOptions, 'component'>;
}

/** Maximum number of waiting occurrences; beyond it, new ones are dropped, as in client-go's broadcaster (COL-146). */
export const MAX_QUEUED_EVENTS = 1000;
/** Maximum attempts at one Event while the server cannot be reached (COL-146). */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;
/** Timeout of one request. */
const TIMEOUT_MS = 30_000;

const EVENTS = { group: '', version: 'v1', resource: 'events' };

/**
 * Writes core/v1 Events (COL-144 to COL-146; client-go `tools/record`). Best effort: recording never waits and never throws, and a failing
 * server costs only Events.
 */
export class EventRecorder implements Service {
  readonly #options: EventRecorderOptions;
  readonly #logger: Logger;
  readonly #correlator: EventCorrelator;
  readonly #queue = new Ring<EventOccurrence>({ bound: MAX_QUEUED_EVENTS });
  #wake: (() => void) | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#correlator = new EventCorrelator({ ...options.correlator, component: options.component });
  }

  /** Number of occurrences lost because the queue was full. */
  get dropped(): number {
    return this.#dropped;
  }

  event(
    involvedObject: ObjectReference,
    event: { readonly type: EventType; readonly reason: string; readonly message: string },
  ): void {
    if (!this.#queue.pushBack({ involvedObject, ...event, at: this.#options.clock.now() })) {
      this.#dropped++;
      return;
    }
    this.#wake?.();
  }

  /**
   * Removes and returns the waiting Events, oldest first, because another process may write them before the next `run`. Events in progress
   * are not included.
   */
  takeWaiting(): EventOccurrence[] {
    const waiting: EventOccurrence[] = [];
    for (let next = this.#queue.popFront(); next !== undefined; next = this.#queue.popFront()) waiting.push(next);
    return waiting;
  }

  /**
   * Writes the recorded Events one by one. Resolves after `signal` is aborted. The next run writes Events that wait then, unless they are
   * withdrawn; the one in progress may be lost.
   */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake?.();
    signal.addEventListener('abort', onAbort, { once: true });
    while (!signal.aborted) {
      const occurrence = this.#queue.popFront();
      if (occurrence !== undefined) {
        await this.#record(occurrence, signal);
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    signal.removeEventListener('abort', onAbort);
  }

  async #record(occurrence: EventOccurrence, signal: AbortSignal): Promise<void> {
    const correlation = this.#correlator.correlate(occurrence);
    if (correlation.action === 'drop') return;
    const { clock, random } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        await this.#write(occurrence, correlation, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        // The server answered that it refuses this Event for good (COL-146).
        if (error instanceof StatusError) {
          const level = isAlreadyExists(error) ? 'debug' : 'warn';
          this.#logger[level]('the server rejected an event', { reason: occurrence.reason, error: error.message });
          return;
        }
        if (tries === MAX_TRIES) {
          this.#logger.warn('unable to write an event', { reason: occurrence.reason, tries });
          return;
        }
      }
      // The first wait has random jitter, so that components that lost the same server do not return together.
      const wait = tries === 1 ? random.integer(RETRY_MS) : RETRY_MS;
      await sleepUnlessAborted(clock, wait, signal);
      if (signal.aborted) return;
    }
  }

  async #write(
    occurrence: EventOccurrence,
    correlation: Exclude<Correlation, { action: 'drop' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    const call = { signal, timeoutMs: TIMEOUT_MS };
    const namespace = namespaceOf(occurrence);
    if (correlation.action === 'update') {
      const { name, count, message } = correlation;
      const body = { count, lastTimestamp: formatTime(occurrence.at), message };
      try {
        await client.patch(
          { gvr: EVENTS, namespace, name },
          { type: 'application/strategic-merge-patch+json', body },
          call,
        );
        return;
      } catch (error) {
        // Events live an hour, so the series may outlive its Event. Then it starts another one with the same count.
        if (!isNotFound(error)) throw error;
      }
    }
    const event = this.#eventOf(occurrence, correlation);
    await client.create({ gvr: EVENTS, namespace }, event, call);
    this.#correlator.written(correlation.key, event.metadata.name);
  }

  #eventOf(occurrence: EventOccurrence, { message, count, firstAt }: Exclude<Correlation, { action: 'drop' }>) {
    const { component } = this.#options;
    const { involvedObject, type, reason, at } = occurrence;
    return {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: `${involvedObject.name}.${this.#nanoseconds(at)}`, namespace: namespaceOf(occurrence) },
      involvedObject: withoutEmpty(involvedObject),
      reason,
      message,
      source: { component },
      firstTimestamp: formatTime(firstAt),
      lastTimestamp: formatTime(at),
      count,
      type,
      reportingComponent: component,
      reportingInstance: '',
    };
  }

  /** Hexadecimal. The clock has milliseconds; the rest is random, because the number makes the name unique. */
  #nanoseconds(at: number): string {
    return (BigInt(Math.trunc(at)) * 1_000_000n + BigInt(this.#options.random.integer(1_000_000))).toString(16);
  }
}

/** Events about cluster-scoped objects are in `default` (COL-144). */
function namespaceOf({ involvedObject: { namespace = '' } }: EventOccurrence): string {
  return namespace === '' ? 'default' : namespace;
}

function withoutEmpty(reference: ObjectReference): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reference).filter(([, value]: [string, unknown]) => value !== undefined && value !== ''),
  ) as Record<string, string>;
}
