import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { systemClock, type Clock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import { noMetrics } from '../../base/metrics/metrics.ts';
import { seededRandom } from '../../base/random/random.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Status } from '../../api/status-error.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../api-server.ts';
import type { Store } from '../storage/interface.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';

/** A whole answer. `json` is undefined when the body is no JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly json: Json;
}

/** Deliberately loose: tests read answers of every shape. */
export type Json = KubeObject & Status & { items: Json[]; rows: Json[]; object: Json };

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Sends the request as if over a connection. */
  readonly remote?: true;
}

/** The real server on the memory store, called through its handler. */
export class TestServer {
  readonly server: ApiServer;
  readonly store: Store;
  readonly clock: Clock;

  constructor(server: ApiServer, store: Store, clock: Clock) {
    this.server = server;
    this.store = store;
    this.clock = clock;
  }

  /** The answer with its body unread. */
  send(method: string, target: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const { body, headers, signal, remote } = options;
    const raw = body === undefined || body instanceof Uint8Array || typeof body === 'string';
    const text = raw ? body : stringifyExactJson(body);
    const request: HttpRequest = {
      method,
      target,
      headers: { ...(raw || body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(text === undefined ? {} : { body: typeof text === 'string' ? Buffer.from(text) : text }),
      ...(signal === undefined ? {} : { signal }),
      ...(remote === undefined ? {} : { remote }),
    };
    return this.server.handler(request);
  }

  async request(method: string, target: string, options: RequestOptions = {}): Promise<Answer> {
    const { status, headers, body } = await this.send(method, target, options);
    const bytes = body instanceof Uint8Array ? body : await all(body);
    const text = Buffer.from(bytes).toString();
    let json: unknown;
    try {
      json = parseExactJson(text);
    } catch {
      json = undefined;
    }
    return { status, headers, bytes, text, json: json as Json };
  }

  get(target: string, headers?: Record<string, string>): Promise<Answer> {
    return this.request('GET', target, headers === undefined ? {} : { headers });
  }

  post(target: string, body: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.request('POST', target, { body, ...(headers === undefined ? {} : { headers }) });
  }

  put(target: string, body: unknown): Promise<Answer> {
    return this.request('PUT', target, { body });
  }

  delete(target: string, body?: unknown): Promise<Answer> {
    return this.request('DELETE', target, body === undefined ? {} : { body });
  }

  patch(target: string, body: unknown, type: 'json' | 'merge' | 'strategic' = 'merge'): Promise<Answer> {
    const names = { json: 'json-patch', merge: 'merge-patch', strategic: 'strategic-merge-patch' };
    return this.request('PATCH', target, {
      body: stringifyExactJson(body),
      headers: { 'content-type': `application/${names[type]}+json` },
    });
  }

  async watch(
    target: string,
    headers?: Record<string, string>,
    from: Pick<RequestOptions, 'remote'> = {},
  ): Promise<TestWatch> {
    const controller = new AbortController();
    const response = await this.send('GET', target, {
      ...from,
      signal: controller.signal,
      ...(headers === undefined ? {} : { headers }),
    });
    return new TestWatch(response, controller);
  }
}

/** Reads the JSON events of a watch one by one. */
export class TestWatch {
  readonly response: HttpResponse;
  readonly #controller: AbortController;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #text = '';

  constructor(response: HttpResponse, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    const { body } = response;
    this.#chunks = (body instanceof Uint8Array ? once(body) : body)[Symbol.asyncIterator]();
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<{ type: string; object: Json } | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n');
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return parseExactJson(line) as { type: string; object: Json };
      }
      const chunk = await this.#chunks.next();
      if (chunk.done === true) return undefined;
      this.#text += Buffer.from(chunk.value).toString();
    }
  }

  async take(count: number): Promise<{ type: string; object: Json }[]> {
    const events: { type: string; object: Json }[] = [];
    for (let i = 0; i < count; i++) {
      const event = await this.next();
      if (event === undefined) break;
      events.push(event);
    }
    return events;
  }

  /** Type and name of the next events. */
  async summary(count: number): Promise<string[]> {
    return (await this.take(count)).map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`);
  }

  close(): void {
    this.#controller.abort();
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function all(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export interface TestServerOptions extends Partial<Omit<ApiServerOptions, 'store'>> {
  readonly store?: Store;
  readonly seed?: number;
  readonly logger?: Logger;
}

/** Resolves when the server has started, with its bootstrap objects. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = options.clock ?? systemClock;
  const store = options.store ?? openMemoryStore({ clock });
  const server = createApiServer({
    clock,
    random: seededRandom(options.seed ?? 1),
    logger: silentLogger,
    metrics: noMetrics,
    version: { major: '1', minor: '36', gitVersion: 'v1.36.2+kubegc.test' },
    ...options,
    store,
  });
  await server.start();
  return new TestServer(server, store, clock);
}

export function configMap(name: string, extra: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', ...extra, metadata: { name, ...extra.metadata } };
}

export const configMaps = '/api/v1/namespaces/default/configmaps';
