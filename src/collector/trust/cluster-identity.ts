import type { Clock } from '../../base/time/clock.ts';
import { Deadline } from '../../base/time/deadline.ts';
import type { Greeting, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import type { Interceptor, Send } from '../../client/rest/interceptor.ts';
import { TransportError } from '../../client/http/transport.ts';

/** Every cluster has this namespace. Its uid identifies the cluster for as long as the cluster lives. */
const PATH = '/api/v1/namespaces/kube-system';
/** A write needs no new identity read if the last one began within this time and no request has failed since, ms. */
const FRESH_MS = 2000;
/** An identity read that takes longer is given up, ms. */
const LOOK_MS = 10_000;

/** The server behind the address belongs to another cluster than at the start. Nothing more is written. */
export class ForeignClusterError extends TransportError {
  constructor(expected: string, met: string) {
    super(
      'protocol',
      `this address led to another cluster: the uid of Namespace kube-system was ${expected}, and is ${met}. Nothing more is written. ` +
        'Check the server of the kubeconfig and what balances its load, then start again.',
    );
    this.name = 'ForeignClusterError';
  }
}

/** Parts of a {@link ClusterIdentity}. */
export interface ClusterIdentityOptions {
  /** Measures how long an answer about the cluster counts. */
  readonly clock: Clock;
  /** Receives the warning that the cluster may not be read. */
  readonly logger: Logger;
}

/**
 * Checks that all requests reach the same cluster. Each new connection is asked for the identity of its cluster before anything else is
 * sent over it. Before a list, a watch or a 404 is handed on, the identity is read in a request that begins after that answer. Before a
 * write, the identity must have been read within two seconds, and after the last request that failed. Concurrent requests share one read.
 * If the namespace may not be read, the identity stays unknown, and one warning says so.
 */
export class ClusterIdentity implements Greeting {
  readonly #options: ClusterIdentityOptions;
  #expected: string | undefined;
  readonly #foreign = new AbortController();
  #unknown = false;
  /** The identity read that is under way, and the one that begins after it. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #userAgent: HttpRequest['headers'][string] = '';

  constructor(options: ClusterIdentityOptions) {
    this.#options = options;
  }

  /** Aborted with a {@link ForeignClusterError} once another cluster has answered. Nothing is sent any more. */
  get foreign(): AbortSignal {
    return this.#foreign.signal;
  }

  /** Asks a new connection which cluster is at its other side. */
  greet(send: Send): Promise<void> {
    return this.#look(send);
  }

  /** Sends a request only while the cluster is the expected one. Rejects with a {@link ForeignClusterError} when it is another. */
  readonly intercept: Interceptor = async (asked, next) => {
    this.foreign.throwIfAborted();
    const { method, target, headers, body, signal, refusal } = asked;
    this.#userAgent = headers['user-agent'] ?? '';
    const request: HttpRequest = { method, target, headers, body, signal, refusal, greeting: this };
    if (request.method !== 'GET') {
      if (this.#options.clock.monotonic() >= this.#freshUntil) await this.#lookAfterNow(next);
      return await this.#send(request, next);
    }
    const response = await this.#send(request, next);
    if (!isEvidence(request, response)) {
      // A write may follow from this answer, so the identity must be read again: a read that shows another uid than expected counts like a
      // 404.
      this.#freshUntil = Number.NEGATIVE_INFINITY;
      return response;
    }
    try {
      await this.#lookAfterNow(next);
      return response;
    } catch (error) {
      letGo(response);
      throw error;
    }
  };

  async #send(request: HttpRequest, next: Send): Promise<HttpResponse> {
    try {
      return await next(request);
    } catch (error) {
      // The identity must be read again, because another server may answer the next request.
      if (!(error instanceof TransportError) || error.code !== 'aborted') this.#freshUntil = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  /** Reads the identity in a request that begins now or later. The read under way may have been answered before now. */
  #lookAfterNow(next: Send): Promise<void> {
    this.#next ??= (this.#running ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = this.#look(next);
        return this.#running;
      });
    return this.#next;
  }

  async #look(next: Send): Promise<void> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    const headers = { accept: ACCEPT_METADATA_JSON, 'user-agent': this.#userAgent };
    using deadline = new Deadline({ clock, timeoutMs: LOOK_MS });
    const { status, body } = await next({
      method: 'GET',
      target: PATH,
      headers,
      signal: deadline,
      greeting: undefined,
    });
    const text = await textOf(body);
    if (status !== 200) return this.#notTold(status, began);
    const met = uidIn(text);
    if (met === undefined) return this.#notTold(status, began);
    this.#expected ??= met;
    if (met !== this.#expected) {
      this.#foreign.abort(new ForeignClusterError(this.#expected, met));
      this.foreign.throwIfAborted();
    }
    this.#freshUntil = began + FRESH_MS;
  }

  /** Handles an answer without the identity. It is an error if the identity was known before. */
  #notTold(status: number, began: number): void {
    if (this.#expected !== undefined || status >= 500) {
      throw new TransportError(
        'protocol',
        `the identity of the cluster could not be read: the server answered ${status}`,
      );
    }
    this.#freshUntil = began + FRESH_MS;
    if (this.#unknown) return;
    this.#unknown = true;
    const message = 'the cluster cannot be identified: Namespace kube-system could not be read';
    this.#options.logger.warn(message, { status });
  }
}

/** Whether the graph relies on this answer: lists, watches, and absences. */
function isEvidence({ target }: HttpRequest, { status }: HttpResponse): boolean {
  return status === 404 || (status < 300 && /[?&](?:watch=true|limit=)/.test(target));
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function uidIn(text: string): string | undefined {
  try {
    const object = JSON.parse(text) as { readonly metadata?: { readonly name?: string; readonly uid?: string } } | null;
    const { name, uid } = object?.metadata ?? {};
    return name === 'kube-system' && typeof uid === 'string' && uid !== '' ? uid : undefined;
  } catch {
    return undefined;
  }
}

function letGo({ body }: HttpResponse): void {
  if (body instanceof Uint8Array) return;
  void Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => undefined);
}
