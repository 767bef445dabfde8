import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import type { DeleteOptions } from './delete-options.ts';
import { formatGroupResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { StatusError } from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { Deadline } from '../../base/time/deadline.ts';
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { asError } from '../../base/errors/thrown.ts';
import { decodeList, type KubeList } from '../codec/decode-list.ts';
import { type Interceptor, intercept } from './interceptor.ts';
import { pathOf, queryOf, type QueryValue, type ResourceRef } from './resource-path.ts';
import { retryAfterMs } from './retry-after.ts';
import { statusErrorOf } from '../codec/status-decoder.ts';
import { abortedTransportError, transportErrorOf } from '../http/transport-failure.ts';
import { type Transport, TransportError } from '../http/transport.ts';
import { type ApiWarning, parseWarnings } from './warning-header.ts';

export interface RestClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** `<binary>/<version> (<os>/<arch>) … /<component>` (COL-173). */
  readonly userAgent: string;
  /** Timeout of requests that set none; if absent, there is no limit. */
  readonly defaultTimeoutMs?: number;
  readonly onWarning?: (warning: ApiWarning) => void;
  /** Run for every attempt of every request, the first outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** See {@link RestClient.watches}; default `renewed`. */
  readonly watches?: WatchLifetime;
  /** Aborts each request that has no signal of its own. */
  readonly signal?: AbortNotice | undefined;
}

/**
 * `renewed`: a reflector renews each watch after some minutes, because a connection can break without a notice. `lasting`: it renews them
 * after two days, because the server is in the same process.
 */
export type WatchLifetime = 'renewed' | 'lasting';

/** Retries after a 429 or 503 with `Retry-After`. The client retries nothing else. */
export interface RetryPolicy {
  /** Retries after the first attempt, at most {@link MAX_RETRIES}. */
  readonly attempts: number;
}

const MAX_RETRIES = 10;
/** Maximum size of an answer that is read as a whole. Larger ones need {@link RestClient.stream}. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;

/** A request to any path. */
export interface RestRequest {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The encoded path without query; {@link pathOf} builds those of resources. */
  readonly path: string;
  /** Query parameters; undefined values are left out. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** The body's bytes. */
  readonly body?: Uint8Array | undefined;
  /** The content type of the body; default `application/json`. */
  readonly contentType?: string | undefined;
  /** The accepted content type; default `application/json`. */
  readonly accept?: string | undefined;
  /** More headers, in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time until the answer is complete, including all attempts; `'none'` overrides the client's default. */
  readonly timeoutMs?: number | 'none' | undefined;
  /** Aborts the request, which rejects with a TransportError `aborted`. */
  readonly signal?: AbortNotice | undefined;
  /** Retries on the server's request; by default none. */
  readonly retry?: RetryPolicy | undefined;
  /** The reason for the request, which interceptors can report. It is not sent. */
  readonly why?: string | undefined;
}

/** An answer with a status below 400, read completely. */
export class RestResponse {
  /** The HTTP status, below 400. */
  readonly status: number;
  /** Headers of the answer. */
  readonly headers: HttpHeaders;
  /** The whole body. */
  readonly body: Uint8Array;

  constructor(status: number, headers: HttpHeaders, body: Uint8Array) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** The body as JSON. Throws a TransportError `protocol` for other content. */
  json<T = unknown>(): T {
    try {
      return parseExactJson(
        Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString('utf8'),
      ) as T;
    } catch (error) {
      throw new TransportError('protocol', 'the answer is not JSON', { cause: error });
    }
  }
}

/** An answer with a status below 400 whose body is still arriving, for one reader, which returns when it stops. */
export interface RestStream {
  /** The HTTP status, below 400. */
  readonly status: number;
  /** Headers of the answer. */
  readonly headers: HttpHeaders;
  /** The body's bytes as they arrive. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Options that the helpers below pass on. */
export type CallOptions = Pick<RestRequest, 'query' | 'accept' | 'headers' | 'timeoutMs' | 'signal' | 'retry' | 'why'>;

/** The content types of patches. */
export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

/**
 * Requests to one API server. A failing answer is a StatusError, a missing one a TransportError. A 404 proves the absence of an object only
 * if `isObjectNotFound` (api/status-error) says so (COL-116).
 */
export class RestClient {
  /** How long a reflector keeps a watch of this client. */
  readonly watches: WatchLifetime;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #defaultTimeoutMs: number | undefined;
  readonly #signal: AbortNotice | undefined;
  readonly #onWarning: ((warning: ApiWarning) => void) | undefined;

  constructor(options: RestClientOptions) {
    this.#transport = intercept(options.transport, ...(options.interceptors ?? []));
    this.#clock = options.clock;
    this.#userAgent = options.userAgent;
    this.#defaultTimeoutMs = options.defaultTimeoutMs;
    this.#signal = options.signal;
    this.#onWarning = options.onWarning;
    this.watches = options.watches ?? 'renewed';
  }

  /** The User-Agent of the client. */
  get userAgent(): string {
    return this.#userAgent;
  }

  /** The same connection with another User-Agent, for a component of the program. */
  as(component: string): RestClient {
    return this.#with({ userAgent: `${this.#userAgent}/${component}` });
  }

  /** The same client with more interceptors, outside of the existing ones. */
  through(...interceptors: readonly Interceptor[]): RestClient {
    return this.#with({ interceptors });
  }

  /** The same client. The signal aborts its requests, unless they have their own. */
  abortedBy(signal: AbortNotice | undefined): RestClient {
    return this.#with({ signal });
  }

  /** Sends a request and reads the whole answer. */
  request(request: RestRequest): Promise<RestResponse> {
    const deadline = this.#deadline(request);
    const signal = deadline ?? this.#signalOf(request);
    const answered = this.#send(request, signal).then((response) => wholeOf(response, signal));
    return deadline === undefined ? answered : answered.finally(() => deadline.dispose());
  }

  /** Sends a request and returns the body as it arrives. The timeout covers the time until the head; `signal` also covers the body. */
  async stream(request: RestRequest): Promise<RestStream> {
    const deadline = this.#deadline(request);
    try {
      const { status, headers, body } = await this.#send(request, deadline ?? this.#signalOf(request));
      deadline?.stopTimer();
      if (!(body instanceof Uint8Array)) return { status, headers, body: deadline ? letGoAfter(body, deadline) : body };
      deadline?.dispose();
      return { status, headers, body: once(body) };
    } catch (error) {
      deadline?.dispose();
      throw error;
    }
  }

  /** Reads one object. Rejects with a 404 StatusError if there is none. */
  async get<T = KubeObject>(ref: ResourceRef, options?: CallOptions): Promise<T> {
    return (await this.request({ ...options, method: 'GET', path: pathOf(named(ref)) })).json<T>();
  }

  /** Reads a collection. */
  async list<T = KubeObject>(ref: ResourceRef, options?: CallOptions): Promise<KubeList<T>> {
    const response = await this.request({ ...options, method: 'GET', path: pathOf(ref) });
    return decodeList<T>(response.json(), formatGroupResource(ref.gvr));
  }

  /** Creates an object in the collection. Resolves with the server's object. */
  async create<T = KubeObject>(ref: ResourceRef, object: object, options?: CallOptions): Promise<T> {
    return (await this.#write('POST', ref, { object, contentType: 'application/json', options })).json<T>();
  }

  /** Replaces one object. Rejects with a 409 StatusError for an old resourceVersion. */
  async update<T = KubeObject>(ref: ResourceRef, object: object, options?: CallOptions): Promise<T> {
    return (await this.#write('PUT', named(ref), { object, contentType: 'application/json', options })).json<T>();
  }

  /** Patches one object. Resolves with the patched object. */
  async patch<T = KubeObject>(
    ref: ResourceRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options?: CallOptions,
  ): Promise<T> {
    const write = { object: patch.body, contentType: patch.type, options };
    return (await this.#write('PATCH', named(ref), write)).json<T>();
  }

  /** Deletes one object. Resolves with the server's answer: a Status, or the object that now waits for its finalizers. */
  delete<T = unknown>(ref: ResourceRef, deleteOptions?: DeleteOptions, options?: CallOptions): Promise<T> {
    return this.#delete(ref, deleteOptions, options).then((response) => response.json<T>());
  }

  /**
   * The same for very many deletions: the body of a plain success is not parsed. `optionsIn: 'query'` saves the request's body. Use it only
   * with servers that are known to read options from the query; others would delete without preconditions (API-240).
   */
  deleted<T = unknown>(
    ref: ResourceRef,
    deleteOptions: DeleteOptions,
    { optionsIn, signal }: { readonly optionsIn: 'body' | 'query'; readonly signal?: AbortNotice | undefined },
  ): Promise<'success' | T> {
    const response =
      optionsIn === 'body'
        ? this.#delete(ref, deleteOptions, { signal })
        : this.#delete(ref, undefined, { signal, query: deleteQuery(deleteOptions) });
    return response.then((answer) => (saysSuccess(answer.body) ? 'success' : answer.json<T>()));
  }

  /**
   * Deletes every selected object of a collection; `ref` must not have a name. Resolves with the server's answer: a list of deleted
   * objects, or a Status.
   */
  async deleteCollection<T = unknown>(
    ref: Omit<ResourceRef, 'name' | 'subresource'>,
    deleteOptions?: DeleteOptions,
    options?: CallOptions,
  ): Promise<T> {
    const { gvr, namespace } = ref;
    const object = deleteOptions && { kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions };
    const write = { object, contentType: 'application/json', options };
    return (await this.#write('DELETE', { gvr, namespace }, write)).json<T>();
  }

  /** Closes the connections; requests in progress reject. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #delete(
    ref: ResourceRef,
    deleteOptions: DeleteOptions | undefined,
    options: CallOptions | undefined,
  ): Promise<RestResponse> {
    const object = deleteOptions && { kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions };
    return this.#write('DELETE', named(ref), { object, contentType: 'application/json', options });
  }

  #write(
    method: RestRequest['method'],
    ref: ResourceRef,
    write: { object: unknown; contentType: string; options: CallOptions | undefined },
  ): Promise<RestResponse> {
    const { object, contentType, options = {} } = write;
    return promised(() => {
      const path = pathOf(ref);
      const { query, accept, headers, timeoutMs, signal, retry, why } = options;
      const body = object === undefined ? undefined : Buffer.from(stringifyExactJson(object), 'utf8');
      return this.request({ method, path, query, body, contentType, accept, headers, timeoutMs, signal, retry, why });
    });
  }

  #with(changes: Partial<RestClientOptions>): RestClient {
    return new RestClient({
      transport: this.#transport,
      clock: this.#clock,
      userAgent: this.#userAgent,
      signal: this.#signal,
      watches: this.watches,
      ...(this.#defaultTimeoutMs === undefined ? {} : { defaultTimeoutMs: this.#defaultTimeoutMs }),
      ...(this.#onWarning === undefined ? {} : { onWarning: this.#onWarning }),
      ...changes,
    });
  }

  #signalOf({ signal }: RestRequest): AbortNotice | undefined {
    return signal ?? this.#signal;
  }

  #deadline(request: RestRequest): Deadline | undefined {
    const { timeoutMs } = request;
    const ms = timeoutMs === 'none' ? undefined : (timeoutMs ?? this.#defaultTimeoutMs);
    if (ms === undefined) return undefined;
    return new Deadline({ clock: this.#clock, timeoutMs: ms, parent: this.#signalOf(request) });
  }

  /**
   * Promises are chained by hand here, because a collector has hundreds of requests in progress, and each collection of the young heap
   * moves the frames of async functions.
   */
  #send(request: RestRequest, signal: AbortNotice | undefined): Promise<HttpResponse> {
    const retries = Math.min(request.retry?.attempts ?? 0, MAX_RETRIES);
    return promised(() => {
      const message = this.#message(request, signal);
      return retries === 0 ? this.#sendOnce(message) : this.#sendAgain(message, retries);
    });
  }

  async #sendAgain(message: HttpRequest, retries: number): Promise<HttpResponse> {
    const { signal } = message;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#sendOnce(message);
      } catch (error) {
        const wait = attempt < retries && error instanceof StatusError ? retryDelayMs(error) : undefined;
        if (wait === undefined) throw error;
        await sleep(this.#clock, wait, signal).catch((reason: unknown) => {
          throw signal === undefined ? reason : abortedTransportError(signal);
        });
      }
    }
  }

  #sendOnce(message: HttpRequest): Promise<HttpResponse> {
    return this.#transport.send(message).then((response) => {
      const { status, headers, body } = response;
      this.#warn(headers);
      if (status < 400) return response;
      return readBody(body, message.signal).then((bytes) => {
        throw statusErrorOf(status, headers, bytes);
      });
    });
  }

  #message(request: RestRequest, signal: AbortNotice | undefined): HttpRequest {
    const { method, path, query, body, contentType } = request;
    const headers: Record<string, string> = {
      accept: request.accept ?? 'application/json',
      'user-agent': this.#userAgent,
    };
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    return {
      method,
      target: query === undefined ? path : path + queryOf(query),
      headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
      body,
      signal,
      why: request.why,
    };
  }

  #warn(headers: HttpHeaders): void {
    if (this.#onWarning === undefined || headers['warning'] === undefined) return;
    for (const warning of parseWarnings(headers['warning'])) this.#onWarning(warning);
  }
}

/** Preconditions are flat in a query (apimachinery `Convert_url_Values_To_v1_DeleteOptions`). */
function deleteQuery(options: DeleteOptions): Record<string, QueryValue> {
  const { preconditions, propagationPolicy, gracePeriodSeconds, orphanDependents, dryRun } = options;
  return {
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
    propagationPolicy,
    gracePeriodSeconds,
    orphanDependents,
    dryRun: dryRun?.[0],
  };
}

/** The beginning of kube-apiserver's success Status, whose fields have a fixed order. */
const SUCCESS = Buffer.from('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"');

function saysSuccess(body: Uint8Array): boolean {
  return body.length > SUCCESS.length && SUCCESS.compare(body, 0, SUCCESS.length) === 0;
}

/** Methods for one object refuse a missing name, because without it they would address the collection. */
function named(ref: ResourceRef): ResourceRef {
  return ref.name === undefined ? { ...ref, name: '' } : ref;
}

/** Undefined for an error that must not be retried. */
function retryDelayMs(error: StatusError): number | undefined {
  if (error.code !== 429 && error.code !== 503) return undefined;
  const seconds = error.details.retryAfterSeconds;
  return seconds === undefined ? undefined : retryAfterMs(seconds);
}

/** Turns a synchronous throw into a rejection. */
function promised<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(asError(error));
  }
}

function wholeOf(
  { status, headers, body }: HttpResponse,
  signal: AbortNotice | undefined,
): RestResponse | Promise<RestResponse> {
  if (body instanceof Uint8Array) return new RestResponse(status, headers, body);
  return readBody(body, signal).then((bytes) => new RestResponse(status, headers, bytes));
}

async function readBody(body: HttpResponse['body'], signal: AbortNotice | undefined): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES)
        throw new TransportError('protocol', `the answer has more than ${MAX_BODY_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw transportErrorOf(error, signal);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  if (body.length > 0) yield await Promise.resolve(body);
}

/** The body. It removes its listener from the caller's signal when it ends or its reader stops. */
async function* letGoAfter(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    deadline.dispose();
  }
}
