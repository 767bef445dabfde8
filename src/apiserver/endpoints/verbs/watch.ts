import type { ObjectMeta } from '../../../api/meta/object-meta.ts';
import { escapeValue, parseFieldSelector } from '../../../api/selectors/field-selector.ts';
import { newBadRequest, newExpired, newTooLargeResourceVersion, StatusError } from '../../../api/status-error.ts';
import type { HttpRequest, HttpResponse } from '../../../base/http-message.ts';
import type { Random } from '../../../base/random/random.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Selection } from '../../registry/selection.ts';
import { selectionOf } from './selection-of.ts';
import { EventBatch, CacheEvent } from '../../storage/cache/cache-event.ts';
import type { CacheWatch, WatchStep } from '../../storage/cache/cache-watch.ts';
import { RevisionCompactedError, RevisionFutureError } from '../../storage/interface.ts';
import type { CacheWatchOptions } from '../../storage/cache/watch-cache.ts';
import { type ListOptions, parseListOptions, validateWatchOptions, readRevision } from '../request/list-options.ts';
import { PROTOBUF_TYPE } from '../negotiation/negotiation.ts';
import { refuseUnconverted } from '../response/list-writer.ts';
import { refuseMismatch } from '../response/object-writer.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { type WatchEncoder, watchEncoder } from '../response/watch-encoder.ts';
import { type WatchMoment, WatchStream, type WatchStreamOptions } from '../response/watch-stream.ts';

/** Default timeout: at random between half an hour and an hour, so that not all watches reconnect at once (API-127). */
const MIN_TIMEOUT_S = 1800;
/** Maximum timeout of two days; a client that requests more is probably broken. */
const MAX_TIMEOUT_S = 2 * 24 * 3600;
/** Interval of bookmarks; another is sent shortly before the watch ends (API-128). */
const BOOKMARK_EVERY_MS = 60_000;
/** A client in this process that asks for the maximum timeout keeps its watch, because no connection can break, so it needs few bookmarks. */
const RARE_BOOKMARK_EVERY_MS = 24 * 3_600_000;
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;

/** A watch of a collection or, by the deprecated prefix, of one object. */
export async function handleWatch(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, context, name } = scope;
  const { random, clock } = resource.environment;
  refuseWebSocket(context.header('upgrade'));
  const options = ofName(name, parseListOptions(context.query));
  validateWatchOptions(options);
  const revision = readRevision(options.resourceVersion);
  refuseMismatch(scope, 'watch');
  const selection = selectionOf(scope, options);
  const encoder = await watchEncoder(scope);
  const opened = await openWatch(scope, selection, { options, revision });
  if (opened instanceof StatusError) return failedWatch(scope, encoder.error(opened.status));
  const timeoutMs = timeoutOf(options, random);
  const body = new WatchStream({
    watch: opened,
    clock,
    timeoutMs,
    bookmarks: options.allowWatchBookmarks ? bookmarkTimes(timeoutMs, context.request) : [],
    encode: (moment) => encodePrepared(moment, { scope, selection, encoder, options, watch: opened, revision }),
    signal: context.request.signal,
  });
  return { status: 200, headers: watchHeaders(scope), body };
}

/** Only watches under the deprecated prefix have a name (API-003; apiserver `pkg/endpoints/handlers/get.go`, `ListResource`). */
function ofName(name: string, options: ListOptions): ListOptions {
  if (name === '') return options;
  const given = parseFieldSelector(options.fieldSelector);
  if (given.empty) return { ...options, fieldSelector: `metadata.name=${escapeValue(name)}` };
  if (given.exact('metadata.name') === name) return options;
  throw newBadRequest("fieldSelector metadata.name doesn't match requested name");
}

/** A browser's WebSocket is refused, because it would wait for frames that never come (API-138). */
function refuseWebSocket(upgrade: string | undefined): void {
  if (upgrade?.toLowerCase().includes('websocket') === true) {
    throw newBadRequest('watches over WebSocket are not served here: send the request without Upgrade');
  }
}

function watchHeaders({ representation }: ResourceScope): Record<string, string> {
  const { mediaType } = representation;
  return { 'content-type': mediaType === PROTOBUF_TYPE ? `${mediaType};stream=watch` : mediaType };
}

interface Opening {
  readonly options: ListOptions;
  readonly revision: number;
}

/**
 * The first version of the watch (API-122, 124, 129, 132). The error of a version that is expired, or too new for a list, is returned
 * instead of thrown, because the stream reports it (API-123).
 */
async function openWatch(
  { resource }: ResourceScope,
  selection: Selection,
  { options, revision }: Opening,
): Promise<CacheWatch | StatusError> {
  const prefix = watchedPrefix(resource, selection);
  try {
    const withList = options.sendInitialEvents ?? revision === 0;
    if (withList && revision > 0) {
      const current = await resource.environment.store.currentRevision();
      if (revision > current) return newTooLargeResourceVersion(revision, current);
    }
    const start: CacheWatchOptions = withList
      ? { initial: 'list', prefix }
      : revision === 0
        ? { initial: 'none', prefix }
        : { startRevision: revision + 1, prefix };
    const watch = await resource.watchCache.watch(start).catch((error: unknown) => {
      // Like kube-apiserver, accepts a version that does not exist yet, because it may come (API-124).
      if (withList || !(error instanceof RevisionFutureError)) throw error;
      return resource.watchCache.watch({ initial: 'none', prefix }).then((current) => laterThan(current, revision));
    });
    return withList && resource.convertsRemotely ? await convertedStart(watch, resource) : watch;
  } catch (error) {
    if (error instanceof RevisionCompactedError) return tooOld(revision, error);
    if (error instanceof RevisionFutureError) return newTooLargeResourceVersion(revision, error.currentRevision);
    throw error;
  }
}

/** A watch that is silent until the revision has happened: without events, and without a bookmark that names an earlier one. */
function laterThan(watch: CacheWatch, revision: number): CacheWatch {
  let past = false;
  const next = async (): Promise<WatchStep> => {
    for (;;) {
      const step = await watch.next();
      if (past || step.kind !== 'events') return step;
      const { events } = step.batch;
      const later = events.filter((event) => event.revision > revision);
      past = later.length > 0;
      if (past) return later.length === events.length ? step : { ...step, batch: new EventBatch(later) };
    }
  };
  return {
    next,
    get revision() {
      return watch.revision > revision ? watch.revision : 0;
    },
    close: () => watch.close(),
  };
}

/**
 * Starts the watch after the webhook has converted its first objects. If that fails, the watch is refused before the answer begins, because
 * a client that gets an error inside a list retries at once (API-464).
 */
async function convertedStart(watch: CacheWatch, resource: ResourceStore): Promise<CacheWatch> {
  let first: WatchStep | undefined = await watch.next();
  if (first.kind === 'events') {
    await resource.prepare(first.batch.events.map(({ current }) => current)).catch(() => {
      watch.close();
      refuseUnconverted();
    });
  }
  return {
    next: () => {
      const step = first;
      first = undefined;
      return step === undefined ? watch.next() : Promise.resolve(step);
    },
    get revision() {
      return first === undefined ? watch.revision : 0;
    },
    close: () => watch.close(),
  };
}

/** A watch of one object follows only its key and the few keys that begin with it. */
function watchedPrefix(resource: ResourceStore, { namespace, name }: Selection): string {
  const known = name !== undefined && (namespace !== '' || !resource.info.namespaced);
  return known ? resource.key(namespace, name) : resource.prefix(namespace);
}

function tooOld(revision: number, error: RevisionCompactedError): ReturnType<typeof newExpired> {
  return newExpired(`too old resource version: ${revision} (${error.compactedRevision})`);
}

/** The answer for a version without a beginning: 200, one ERROR event, then the end (API-123). */
function failedWatch(scope: ResourceScope, frame: Uint8Array): HttpResponse {
  return { status: 200, headers: watchHeaders(scope), body: frame };
}

/** A negative timeout ends the watch before it begins, like a deadline that has passed; 0 counts as absent. */
function timeoutOf({ timeoutSeconds }: ListOptions, random: Random): number {
  const seconds = timeoutSeconds === 0 ? MIN_TIMEOUT_S * (1 + random.float()) : timeoutSeconds;
  return Math.min(Math.max(seconds, 0), MAX_TIMEOUT_S) * 1000;
}

/** Times of bookmarks: about once a minute, and shortly before the end. */
function* bookmarkTimes(timeoutMs: number, { remote }: Pick<HttpRequest, 'remote'>): Generator<number> {
  const last = timeoutMs - LAST_BOOKMARK_BEFORE_END_MS;
  const isLasting = remote !== true && timeoutMs >= MAX_TIMEOUT_S * 1000;
  const every = isLasting ? RARE_BOOKMARK_EVERY_MS : BOOKMARK_EVERY_MS;
  for (let at = every; at < last; at += every) yield at;
  if (last > 0) yield last;
}

interface Encoding {
  readonly scope: ResourceScope;
  readonly selection: Selection;
  readonly encoder: WatchEncoder;
  readonly options: ListOptions;
  readonly watch: CacheWatch;
  readonly revision: number;
}

function encodeSelected(batch: EventBatch, { scope, selection, encoder }: Encoding): Uint8Array {
  const frames: Uint8Array[] = [];
  for (const event of batch.events) {
    const selected = selectedEvent(event, { selection, resource: scope.resource });
    if (selected !== undefined) frames.push(encoder.event(selected));
  }
  const [only, ...more] = frames;
  return only !== undefined && more.length === 0 ? only : Buffer.concat(frames);
}

/** Waits for the webhook's conversions before encoding. If the webhook fails, the watch ends with its error (API-464). */
function encodePrepared(moment: WatchMoment, encoding: Encoding): ReturnType<WatchStreamOptions['encode']> {
  const { scope } = encoding;
  if (moment.kind !== 'events' || !scope.resource.convertsRemotely) return encodeMoment(moment, encoding);
  return encodeConverted(moment, encoding);
}

async function encodeConverted(
  moment: WatchMoment & { readonly kind: 'events' },
  encoding: Encoding,
): Promise<Uint8Array | undefined> {
  const { scope, encoder, watch } = encoding;
  try {
    await scope.resource.prepare(
      moment.batch.events.flatMap(({ current, previous }) =>
        previous === undefined ? [current] : [current, previous],
      ),
    );
  } catch (error) {
    watch.close();
    return encoder.error(StatusError.from(error).status);
  }
  return encodeMoment(moment, encoding);
}

function encodeMoment(moment: WatchMoment, encoding: Encoding): Uint8Array | undefined {
  const { encoder, options, selection, scope, watch } = encoding;
  switch (moment.kind) {
    case 'events': {
      const { batch } = moment;
      if (selection.everything) return encoder.batch(batch);
      const make = (): Uint8Array => encodeSelected(batch, encoding);
      // Controllers of one kind use the same selector, so they share the filtered events.
      return encoder.shared === undefined
        ? make()
        : batch.part(`${encoder.shared} ${scope.info.version} ${selection.text}`, make);
    }
    case 'initial-end':
      if (options.sendInitialEvents !== true || !options.allowWatchBookmarks) return undefined;
      return encoder.bookmark({
        resourceVersion: String(moment.revision),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      });
    case 'bookmark': {
      // With version 0 the initial list is still in progress, so a bookmark could name no version.
      const metadata: ObjectMeta = { resourceVersion: String(watch.revision) };
      return watch.revision === 0 ? undefined : encoder.bookmark(metadata);
    }
    case 'closed':
      return moment.error instanceof RevisionCompactedError
        ? encoder.error(tooOld(encoding.revision, moment.error).status)
        : undefined;
    case 'timeout':
      return undefined;
  }
}

/**
 * The events of a selective watch (API-125): an object that starts to match is ADDED, one that stops matching is DELETED with its old
 * content and the version of the change, and one that matches neither before nor after is left out.
 */
function selectedEvent(
  event: CacheEvent,
  { selection, resource }: { readonly selection: Selection; readonly resource: ResourceStore },
): CacheEvent | undefined {
  const { type, current, previous } = event;
  const matches = selection.matches(resource.serve(current));
  if (type !== 'MODIFIED' || previous === undefined) return matches ? event : undefined;
  const matched = selection.matches(resource.serve(previous));
  if (matches) return matched ? event : new CacheEvent({ type: 'ADDED', current });
  return matched ? new CacheEvent({ type: 'DELETED', revision: event.revision, previous }) : undefined;
}
