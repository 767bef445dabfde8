import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { HttpHeaders, HttpRequest, HttpResponse } from '../base/http-message.ts';
import {
  type ClientCertificate,
  type ConnectOptions,
  hostOf,
  MAX_CONNECTIONS,
  parseServer,
  tlsOptions,
} from './connect-options.ts';
import { abortedTransportError, transportErrorOf } from './transport-failure.ts';
import { type Transport, TransportError } from './transport.ts';

/** A connection kept for the next request is closed after this long without one. */
const IDLE_MS = 30_000;

/** Answers that say to be shorter than this are read at once, which is cheaper than a stream. */
const SMALL_BODY = 256 * 1024;

/** HTTP/1.1 over Node's own client: connections are kept and used again, one request at a time on each. */
export function http1Transport(options: ConnectOptions): Transport {
  return new Http1Transport(options);
}

class Http1Transport implements Transport {
  readonly #options: ConnectOptions;
  readonly #secure: boolean;
  readonly #url: URL;
  readonly #prefix: string;
  readonly #closing = new AbortController();
  /** The agent of the present client certificate; another certificate needs other connections. */
  #agent: { readonly certificate: ClientCertificate | undefined; readonly agent: HttpAgent } | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
    const { url, secure, prefix } = parseServer(options.server);
    this.#url = url;
    this.#secure = secure;
    this.#prefix = prefix;
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    const headers = credentials === undefined ? undefined : await credentials.headers();
    const agent = await this.#agentNow();
    if (this.#closing.signal.aborted) throw new TransportError('aborted', 'the transport is closed');
    if (request.signal?.aborted === true) throw abortedTransportError(request.signal);
    const response = await this.#exchange(request, headers, agent).catch((error: unknown) => {
      // A server may close an idle connection in the moment we use it again. Reading once more does no harm.
      if (error instanceof StaleConnection && request.method === 'GET') return this.#exchange(request, headers, agent);
      throw error;
    });
    if (response.status === 401) credentials?.rejected?.();
    return response;
  }

  close(): Promise<void> {
    this.#closing.abort();
    // Destroys idle sockets and those in use: requests under way end with a reset.
    this.#agent?.agent.destroy();
    return Promise.resolve();
  }

  async #agentNow(): Promise<HttpAgent> {
    const certificate = await this.#options.credentials?.certificate?.();
    if (this.#agent === undefined || this.#agent.certificate?.certPem !== certificate?.certPem) {
      const keep = {
        keepAlive: true,
        maxSockets: this.#options.maxConnections ?? MAX_CONNECTIONS,
        scheduling: 'lifo' as const,
        // Of a connection that nobody uses; one with a request under way is not touched.
        timeout: IDLE_MS,
      };
      const agent = this.#secure
        ? new HttpsAgent({ ...keep, ...tlsOptions(this.#options, certificate) })
        : new HttpAgent(keep);
      this.#agent = { certificate, agent };
    }
    return this.#agent.agent;
  }

  #exchange(request: HttpRequest, credentials: HttpHeaders | undefined, agent: HttpAgent): Promise<HttpResponse> {
    const { method, body, signal } = request;
    return new Promise((resolve, reject) => {
      const outgoing = (this.#secure ? httpsRequest : httpRequest)({
        agent,
        method,
        host: hostOf(this.#url),
        port: this.#url.port === '' ? (this.#secure ? 443 : 80) : Number(this.#url.port),
        path: this.#prefix + request.target,
        headers: outgoingHeaders(request, credentials),
      });
      const onAbort = (): void => {
        outgoing.destroy(signal === undefined ? undefined : abortedTransportError(signal));
      };
      const letGo = (): void => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      // After the head has come, errors reach the reader through the response instead.
      outgoing.on('error', (error) => {
        letGo();
        const failure = this.#failure(error, signal);
        const stale = outgoing.reusedSocket && failure.code === 'reset';
        reject(stale ? new StaleConnection('reset', failure.message, { cause: error }) : failure);
      });
      outgoing.on('response', (incoming) => {
        const head = { status: incoming.statusCode ?? 0, headers: incomingHeaders(incoming) };
        const length = Number(incoming.headers['content-length'] ?? Number.NaN);
        if (length <= SMALL_BODY) {
          readAll(incoming).then(
            (bytes) => {
              letGo();
              resolve({ ...head, body: bytes });
            },
            (error: unknown) => {
              letGo();
              reject(this.#failure(error, signal));
            },
          );
        } else {
          resolve({ ...head, body: this.#stream(incoming, signal, letGo) });
        }
      });
      if (body === undefined || body.length === 0) outgoing.end();
      else outgoing.end(body);
    });
  }

  async *#stream(
    incoming: IncomingMessage,
    signal: AbortSignal | undefined,
    letGo: () => void,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of incoming) yield chunk as Uint8Array;
    } catch (error) {
      throw this.#failure(error, signal);
    } finally {
      letGo();
      // Without effect when the body was read to its end; else the rest is not worth waiting for.
      incoming.destroy();
    }
  }

  #failure(error: unknown, signal: AbortSignal | undefined): TransportError {
    if (this.#closing.signal.aborted) return new TransportError('aborted', 'the transport is closed', { cause: error });
    return transportErrorOf(error, signal);
  }
}

/** A connection that was kept ended without a byte of answer. Who sends what may be repeated does so. */
export class StaleConnection extends TransportError {}

/**
 * The length is always stated: without it Node sends the body of a DELETE unframed and the server sees none, which would
 * silently drop its preconditions.
 */
function outgoingHeaders(request: HttpRequest, credentials: HttpHeaders | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = typeof value === 'string' ? value : [...value];
  for (const name in credentials) {
    const value = credentials[name]!;
    headers[name] ??= typeof value === 'string' ? value : [...value];
  }
  const length = request.body?.length ?? 0;
  if (length > 0 || (request.method !== 'GET' && request.method !== 'HEAD')) headers['content-length'] = length;
  return headers;
}

/** Node joins repeated headers with a comma, which is ambiguous in `warning`. */
function incomingHeaders(incoming: IncomingMessage): HttpHeaders {
  const headers: Record<string, string | readonly string[]> = {};
  for (const name in incoming.headers) {
    const value = incoming.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  if ('warning' in headers) headers['warning'] = incoming.headersDistinct['warning'] ?? [];
  return headers;
}

function readAll(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  });
}
