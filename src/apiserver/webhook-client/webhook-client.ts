import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import { timeoutSignal } from '../../base/time/abort.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { Lru } from '../../base/collections/lru.ts';
import { Semaphore, SemaphoreFullError } from '../../base/time/semaphore.ts';
import { jsonSyntaxProblem } from '../../api/codec/json/syntax-problem.ts';
import { StaleConnection } from '../../client/http/http1-exchange.ts';
import { http1Transport } from '../../client/http/http1-transport.ts';
import { abortedTransportError } from '../../client/http/transport-failure.ts';
import type { Transport } from '../../client/http/transport.ts';
import { statusFailure, transportFailure } from './call-failure.ts';
import { type WebhookClientConfig, type WebhookTarget, webhookTarget } from './client-config.ts';
import type { ServiceResolver } from './service-resolver.ts';
import { WebhookCallError } from './webhook-call-error.ts';

export interface WebhookClientOptions {
  readonly clock: Clock;
  readonly services: ServiceResolver;
}

export interface WebhookCall {
  readonly body: unknown;
  readonly timeoutMs: number;
  /** Passes the timeout to the webhook in its query; upstream does so for admission but not for conversion. */
  readonly announceTimeout: boolean;
  /** Maximum size of an answer; a larger one is an error. */
  readonly maxAnswerBytes: number;
}

/** Maximum number of webhooks to which connections are kept (apiserver's cache of clients). */
const MAX_TARGETS = 200;
/** Maximum number of concurrent calls to one webhook; more calls wait, within their timeout. */
export const MAX_CALLS = 64;
/** Maximum number of calls that wait for one webhook; one more fails at once. It covers all writes in flight, and lists that convert. */
export const MAX_WAITING_CALLS = 1_000;

interface Connection {
  readonly transport: Transport;
  readonly turns: Semaphore;
  /** `evicted`: newer targets replaced it, and it is closed after its last call. */
  state: 'kept' | 'evicted';
}

function closeIfUnused({ transport, turns, state }: Connection): void {
  if (state === 'evicted' && turns.held === 0 && turns.waiting === 0) void transport.close();
}

/** Posts reviews to webhooks over HTTPS, with the authorities of their configuration. Keeps connections, and caches no answers. */
export class WebhookClient {
  readonly #options: WebhookClientOptions;
  readonly #connections: Lru<string, Connection>;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
    this.#connections = new Lru({
      capacity: MAX_TARGETS,
      onEvict: (_key, connection) => {
        connection.state = 'evicted';
        closeIfUnused(connection);
      },
    });
  }

  /** Ends idle connections and calls in progress. */
  close(): void {
    for (const [, { transport }] of this.#connections.entries()) void transport.close();
    this.#connections.clear();
  }

  /** The answer as JSON. Rejects with a {@link WebhookCallError} for everything else. */
  async post(config: WebhookClientConfig, call: WebhookCall): Promise<unknown> {
    const target = webhookTarget(config);
    if (target === undefined) {
      throw new WebhookCallError('service', 'webhook configuration must have either service or URL');
    }
    const { timeoutMs, announceTimeout } = call;
    const query = announceTimeout ? `?timeout=${Math.ceil(timeoutMs / 1000)}s` : '';
    const url = `https://${target.authority}${target.path}${query}`;
    const time = timeoutSignal(this.#options.clock, timeoutMs);
    let connection: Connection | undefined;
    try {
      connection = await this.#connect(target);
      const { transport, turns } = connection;
      const exchange = { target, query, call, signal: time.signal };
      return await turns.use(() => this.#exchange(transport, exchange), time.signal);
    } catch (error) {
      if (error instanceof WebhookCallError) {
        throw error.failure === 'service' ? transportFailure(new Error(error.message), url) : error;
      }
      if (error instanceof SemaphoreFullError) throw new WebhookCallError('overload', error.message, { cause: error });
      throw transportFailure(time.signal.aborted ? abortedTransportError(time.signal) : error, url);
    } finally {
      time.dispose();
      if (connection !== undefined) closeIfUnused(connection);
    }
  }

  async #connect({ server, service, serverName, caPem }: WebhookTarget): Promise<Connection> {
    let address = server;
    if (service !== undefined) {
      const { host, port } = await this.#options.services.resolve(service.namespace, service.name, service.port);
      address = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    }
    const key = JSON.stringify([address, serverName, caPem]);
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const transport = http1Transport({
        server: address ?? '',
        ...(caPem === undefined ? {} : { caPem }),
        ...(serverName === undefined ? {} : { tlsServerName: serverName }),
        maxConnections: MAX_CALLS,
      });
      const turns = new Semaphore({ permits: MAX_CALLS, maxWaiting: MAX_WAITING_CALLS });
      connection = { transport, turns, state: 'kept' };
      this.#connections.set(key, connection);
    }
    return connection;
  }

  async #exchange(transport: Transport, { target, query, call, signal }: Exchange): Promise<unknown> {
    const request = {
      method: 'POST',
      target: `${target.path}${query}`,
      headers: { host: target.authority, 'content-type': 'application/json', accept: 'application/json, */*' },
      body: Buffer.from(stringifyExactJson(call.body)),
      signal,
    };
    const response = await transport.send(request).catch((error: unknown) => {
      // The webhook had already closed the reused connection, so the call is repeated once on another one.
      if (error instanceof StaleConnection && !signal.aborted) return transport.send(request);
      throw error;
    });
    const body = await readBounded(response, call.maxAnswerBytes);
    if (response.status < 200 || response.status > 206) throw statusFailure(response.status, response.headers, body);
    return parseAnswer(body, response);
  }
}

interface Exchange {
  readonly target: WebhookTarget;
  readonly query: string;
  readonly call: WebhookCall;
  readonly signal: AbortSignal;
}

/** Stops reading when the limit is exceeded. */
async function readBounded({ body }: HttpResponse, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    length += chunk.length;
    if (length > limit) throw new WebhookCallError('answer', `the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] ?? new Uint8Array(0)) : Buffer.concat(chunks);
}

function parseAnswer(body: Uint8Array, { status, headers }: HttpResponse): unknown {
  if (body.length === 0) {
    const type = headers['content-type'];
    const text = `0-length response with status code: ${status} and content type: ${typeof type === 'string' ? type : ''}`;
    throw new WebhookCallError('answer', text);
  }
  const text = Buffer.from(body).toString('utf8');
  try {
    return parseExactJson(text);
  } catch (error) {
    const why = jsonSyntaxProblem(text);
    throw new WebhookCallError('answer', `couldn't get version/kind; json parse error: ${why}`, { cause: error });
  }
}
