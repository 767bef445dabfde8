import { formatGroupResource, type GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { StatusError } from '../../api/status-error.ts';
import { linkSignals, type LinkedSignal, TimeoutError } from '../../base/time/abort.ts';
import { type Backoff, exponentialBackoff } from '../../base/time/backoff.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import {
  ACCEPT_METADATA,
  ACCEPT_METADATA_JSON,
  ACCEPT_METADATA_LIST,
  ACCEPT_METADATA_LIST_JSON,
} from '../codec/accept.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { listDecoder, type ListMeta } from '../codec/list-decoder.ts';
import { objectVersion } from '../codec/object-version.ts';
import { Pause } from './pause.ts';
import {
  afterAttempt,
  type AttemptOutcome,
  nextStep,
  type ReflectorState,
  type ReflectorStep,
} from './reflector-plan.ts';
import type { ReflectorSink } from './reflector-sink.ts';
import { pathOf } from '../rest/resource-path.ts';
import type { RestClient } from '../rest/rest-client.ts';
import { decodeStatus, headerOf } from '../codec/status-decoder.ts';
import { transportErrorOf } from '../http/transport-failure.ts';
import { TransportError } from '../http/transport.ts';
import { type OnWatchAhead, type OnWatchEvent, watchDecoder } from '../codec/watch-decoder.ts';
import { WatchProgress } from './watch-progress.ts';
import { Watchdog } from './watchdog.ts';

export interface ReflectorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  readonly gvr: GroupVersionResource;
  /** One namespace only; absent = all (COL-017). */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** `metadata` as in COL-040; `object` for whole objects as JSON. */
  readonly representation: 'metadata' | 'object';
  readonly sink: ReflectorSink;
  /** `refused` starts with list and watch. */
  readonly watchList?: ReflectorState['watchList'];
  /** Items a page; 500 in Kubernetes. */
  readonly pageSize?: number;
}

const PAGE_SIZE = 500;
/** Each watch requests a random timeout between this and its double, so that the watches of a fleet do not end together. */
const MIN_WATCH_SECONDS = 300;
/** Watches of a server in this process; kube-apiserver, too, grants two days at most. */
const LASTING_WATCH_SECONDS = 2 * 24 * 3600;
/** A watch with a half-open connection does not notice that it has ended; it is aborted this much later. */
const WATCH_GRACE_MS = 30_000;
/** Maximum silence during a list, the initial events of a watch list, or before the head of any answer. */
const SILENCE_MS = 60_000;
/** Initial events normally follow each other closely; a server that does not know the parameter goes silent after them. */
const INITIAL_EVENTS_SILENCE_MS = 10_000;
/** A stream that ended earlier and delivered nothing was useless (client-go: "very short watch"). */
const USEFUL_WATCH_MS = 1000;
/** The back-off of client-go's reflector: 800 ms, doubling to 30 s, with jitter 1, reset after 2 quiet minutes. */
const BACKOFF = { baseMs: 800, capMs: 30_000, factor: 2, jitter: 1 };
const BACKOFF_RESET_MS = 120_000;

interface OpenWatch {
  readonly progress: WatchProgress;
  /** Monotonic, ms. */
  readonly began: number;
  readonly attempt: LinkedSignal;
}

/**
 * Keeps a sink up to date with one resource of an API server: it enumerates, then watches, and starts again if the server cannot continue.
 * Failures are reported and retried (COL-048). SPEC.md has the states; reflector-plan.ts decides.
 */
export class Reflector implements Service {
  readonly #options: ReflectorOptions;
  readonly #sink: ReflectorSink;
  readonly #logger: Logger;
  readonly #backoff: Backoff;
  readonly #pause: Pause;
  readonly #onAhead: OnWatchAhead = (bytes, ranges, count) => this.#sink.ahead?.(bytes, ranges, count);
  #state: ReflectorState;
  #synced = false;
  /** The watch in progress. */
  #open: OpenWatch | undefined;

  constructor(options: ReflectorOptions) {
    const { clock, random, gvr, representation, watchList = 'try' } = options;
    this.#options = options;
    this.#sink = options.sink;
    this.#logger = (options.logger ?? silentLogger).child({ resource: formatGroupResource(gvr) });
    this.#backoff = exponentialBackoff({ ...BACKOFF, random, resetAfter: { clock, ms: BACKOFF_RESET_MS } });
    this.#pause = new Pause(clock);
    this.#state = {
      mode: 'enumerate',
      resourceVersion: '',
      freshness: 'not-older',
      watchList,
      paging: 'on',
      encoding: representation === 'metadata' ? 'protobuf' : 'json',
    };
  }

  get gvr(): GroupVersionResource {
    return this.#options.gvr;
  }

  /** True once the first enumeration is complete. Stays true after later failures (COL-025). */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Newest resource version that was delivered completely; empty before the first. */
  get resourceVersion(): string {
    return this.#state.resourceVersion;
  }

  /** True while it waits before a retry, which {@link Reflector.wake} would end. */
  get pausing(): boolean {
    return this.#pause.isOpen;
  }

  /**
   * Retries now because the cause of the wait may be over, but not before the server's requested time. Does nothing unless {@link
   * Reflector.pausing}. With `anew` later waits grow from the shortest; with `asBefore` they continue to grow.
   */
  wake(pauses: 'anew' | 'asBefore'): void {
    if (pauses === 'anew' && this.pausing) this.#backoff.reset();
    this.#pause.cutShort();
  }

  /**
   * Closes a watch that began at this time or before (monotonic, ms), and opens it anew where it was. Does nothing during an enumeration
   * and during a wait.
   */
  reopen(begunUntil: number): void {
    const open = this.#open;
    if (open === undefined || open.began > begunUntil || open.progress.initial === 'incomplete') return;
    open.attempt.abort(new WatchReopened());
  }

  /** Resolves after `signal` is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = nextStep(this.#state);
      const outcome = await this.#attempt(step, signal);
      if (signal.aborted) return;
      const { state, wait, noise } = afterAttempt(this.#state, step, outcome);
      this.#state = state;
      this.#tell(step, outcome, noise);
      // It worked in between, so the next failure starts with the shortest wait.
      if (outcome.end === 'closed' && outcome.useful) this.#backoff.reset();
      if (wait.kind === 'none') continue;
      if (wait.kind === 'asked') await this.#pause.take(wait.ms, wait.ms, signal);
      else await this.#pause.take(this.#backoff.next(), wait.atLeastMs, signal);
    }
  }

  #tell(step: ReflectorStep, outcome: AttemptOutcome, noise: 'report' | 'expected'): void {
    const error = outcome.end === 'failed' || outcome.end === 'closed' ? outcome.error : undefined;
    if (noise === 'report' && error !== undefined) {
      this.#logger.warn(`${step.verb} failed`, { error: error.message, resourceVersion: step.resourceVersion });
      this.#sink.failed(error);
    } else {
      this.#logger.debug(`${step.verb} ended`, { end: outcome.end, ...(error && { error: error.message }) });
      if (error instanceof TransportError) this.#sink.cut?.(error);
    }
  }

  async #attempt(step: ReflectorStep, signal: AbortSignal): Promise<AttemptOutcome> {
    using attempt = linkSignals(signal);
    return step.verb === 'list' ? await this.#list(step, attempt) : await this.#watch(step, attempt);
  }

  async #list(step: ReflectorStep & { verb: 'list' }, attempt: LinkedSignal): Promise<AttemptOutcome> {
    this.#sink.replaceBegin();
    const began = this.#options.clock.monotonic();
    try {
      let page: ListMeta = { resourceVersion: '', continue: '' };
      // The server bounds the loop: each page is after the previous one.
      do page = await this.#page(step, page.continue, { attempt, began });
      while (page.continue !== '');
      if (page.resourceVersion === '') throw new DecodeError('a list without resourceVersion');
      this.#replaceEnd(page.resourceVersion, step);
      return { end: 'listed', resourceVersion: page.resourceVersion };
    } catch (error) {
      this.#sink.replaceAbort();
      return { end: 'failed', error: failureOf(error, attempt.signal), resourceVersion: '', initial: 'incomplete' };
    }
  }

  async #page(
    step: ReflectorStep & { verb: 'list' },
    token: string,
    { attempt, began }: { readonly attempt: LinkedSignal; readonly began: number },
  ): Promise<ListMeta> {
    const { labelSelector, fieldSelector, pageSize = PAGE_SIZE } = this.#options;
    using silence = this.#watchdog(SILENCE_MS, attempt);
    const { headers, body } = await this.#options.client.stream({
      method: 'GET',
      path: this.#path(),
      query: {
        labelSelector,
        fieldSelector,
        limit: step.paging === 'on' ? pageSize : undefined,
        continue: token === '' ? undefined : token,
        resourceVersion: token === '' && step.resourceVersion !== '' ? step.resourceVersion : undefined,
      },
      accept: this.#accept(ACCEPT_METADATA_LIST, ACCEPT_METADATA_LIST_JSON),
      timeoutMs: 'none',
      signal: attempt.signal,
    });
    this.#sink.opened?.(began);
    const decoder = listDecoder(headerOf(headers, 'content-type'), (bytes, start, end) => {
      this.#deliver('ADDED', bytes, start, end);
    });
    for await (const chunk of body) {
      silence.pet();
      decoder.push(chunk);
      await this.#sinkReady(silence);
    }
    return decoder.end();
  }

  async #watch(step: ReflectorStep & { verb: 'watch' | 'watchList' }, attempt: LinkedSignal): Promise<AttemptOutcome> {
    const { client, clock, random, labelSelector, fieldSelector } = this.#options;
    const enumerates = step.verb === 'watchList';
    const timeoutSeconds =
      client.watches === 'lasting' ? LASTING_WATCH_SECONDS : MIN_WATCH_SECONDS + random.integer(MIN_WATCH_SECONDS);
    const watch = new WatchProgress(step);
    const began = clock.monotonic();
    const deadline = clock.setTimer(timeoutSeconds * 1000 + WATCH_GRACE_MS, () => {
      attempt.abort(new WatchOverdue());
    });
    using silence = this.#watchdog(SILENCE_MS, attempt);
    this.#open = { progress: watch, began, attempt };
    if (enumerates) this.#sink.replaceBegin();
    try {
      const { headers, body } = await client.stream({
        method: 'GET',
        path: this.#path(),
        query: {
          labelSelector,
          fieldSelector,
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: step.resourceVersion === '' ? undefined : step.resourceVersion,
          resourceVersionMatch: enumerates ? 'NotOlderThan' : undefined,
          sendInitialEvents: enumerates ? true : undefined,
          timeoutSeconds,
        },
        accept: this.#accept(ACCEPT_METADATA, ACCEPT_METADATA_JSON),
        timeoutMs: 'none',
        signal: attempt.signal,
      });
      watch.opened = true;
      this.#sink.opened?.(began);
      if (enumerates) silence.pet(INITIAL_EVENTS_SILENCE_MS);
      // A watch without changes is silent for long; the transport watches its connection.
      else silence.stop();
      const onEvent: OnWatchEvent = (type, { bytes, start, end }) => {
        if (type === 'BOOKMARK') this.#bookmark(watch, step, bytes.subarray(start, end));
        else if (type === 'ERROR') throwStatus(bytes.subarray(start, end));
        else {
          this.#deliver(type, bytes, start, end);
          watch.sawObject(bytes, start, end);
        }
      };
      const decoder = watchDecoder(headerOf(headers, 'content-type'), onEvent, this.#onAhead);
      for await (const chunk of body) {
        decoder.push(chunk);
        watch.endChunk();
        if (watch.initial === 'complete') silence.stop();
        else silence.pet();
        await this.#sinkReady(silence);
      }
      return this.#closed(watch, began);
    } catch (error) {
      return this.#watchFailed(watch, began, failureOf(error, attempt.signal), attempt.signal);
    } finally {
      this.#open = undefined;
      deadline.cancel();
      if (watch.initial === 'incomplete') this.#sink.replaceAbort();
    }
  }

  #closed(watch: WatchProgress, began: number, error?: TransportError): AttemptOutcome {
    const lived = this.#options.clock.monotonic() - began;
    return {
      end: 'closed',
      resourceVersion: watch.resourceVersion,
      initial: watch.initial,
      // A watch list that broke off is useless, however long it lasted.
      useful: watch.initial === 'complete' && (watch.delivered || lived >= USEFUL_WATCH_MS),
      ...(error === undefined ? {} : { error }),
    };
  }

  #watchFailed(watch: WatchProgress, began: number, error: Error, signal: AbortSignal): AttemptOutcome {
    if (signal.reason instanceof WatchOverdue) return this.#closed(watch, began);
    if (signal.reason instanceof WatchReopened) {
      return { end: 'reopened', resourceVersion: watch.resourceVersion, initial: watch.initial };
    }
    if (signal.reason instanceof TimeoutError && watch.opened && watch.initial === 'incomplete') {
      return { end: 'no-initial-events-end' };
    }
    if (error instanceof TransportError && watch.opened) return this.#closed(watch, began, error);
    return { end: 'failed', error, resourceVersion: watch.resourceVersion, initial: watch.initial };
  }

  #bookmark(watch: WatchProgress, step: ReflectorStep, object: Uint8Array): void {
    const version = objectVersion(object, 0, object.length);
    watch.sawBookmark(version.resourceVersion);
    if (watch.initial === 'complete') {
      this.#sink.bookmark(version.resourceVersion);
    } else if (version.initialEventsEnd) {
      watch.initial = 'complete';
      this.#replaceEnd(version.resourceVersion, step);
    }
  }

  #deliver(type: 'ADDED' | 'MODIFIED' | 'DELETED', bytes: Uint8Array, start: number, end: number): void {
    try {
      if (type === 'ADDED') this.#sink.added(bytes, start, end);
      else if (type === 'MODIFIED') this.#sink.modified(bytes, start, end);
      else this.#sink.deleted(bytes, start, end);
    } catch (error) {
      const text = messageOf(error);
      throw new DecodeError(`an object that can not be read: ${text}`, { cause: error });
    }
  }

  #replaceEnd(resourceVersion: string, step: ReflectorStep): void {
    this.#sink.replaceEnd(resourceVersion, step.resourceVersion === '0' ? 'unproven' : 'proven');
    if (this.#synced) return;
    this.#synced = true;
    this.#sink.synced();
  }

  async #sinkReady(silence: Watchdog): Promise<void> {
    const busy = this.#sink.ready?.();
    if (busy === undefined) return;
    // Our own slowness does not count as silence of the server.
    const resume = silence.pause();
    await busy;
    resume();
  }

  #path(): string {
    const { gvr, namespace } = this.#options;
    return pathOf(namespace === undefined ? { gvr } : { gvr, namespace });
  }

  #accept(preferred: string, json: string): string {
    if (this.#options.representation === 'object') return 'application/json';
    return this.#state.encoding === 'protobuf' ? preferred : json;
  }

  #watchdog(ms: number | undefined, attempt: LinkedSignal): Watchdog {
    return new Watchdog(this.#options.clock, ms, (silentMs) => attempt.abort(new TimeoutError(silentMs)));
  }
}

/** The watch outlived its requested timeout: a half-open connection, or a server that ignores `timeoutSeconds`. */
class WatchOverdue extends Error {
  constructor() {
    super('the watch did not end when its time was over');
    this.name = 'WatchOverdue';
  }
}

/** See {@link Reflector.reopen}. */
class WatchReopened extends Error {
  constructor() {
    super('the watch is opened anew');
    this.name = 'WatchReopened';
  }
}

function throwStatus(object: Uint8Array): never {
  const status = decodeStatus(object, 0, object.length);
  throw status === undefined ? new DecodeError('an ERROR event without a Status') : new StatusError(status);
}

/** The failure as one of the three kinds of error that a sink receives. */
function failureOf(error: unknown, signal: AbortSignal): Error {
  if (error instanceof DecodeError || error instanceof StatusError) return error;
  return transportErrorOf(error, signal);
}
