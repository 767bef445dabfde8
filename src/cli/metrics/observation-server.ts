import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { HttpHandler, HttpResponse } from '../../base/http-message.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { CommandError } from '../process/command-error.ts';
import { listen, portOf } from '../flags/listen.ts';
import { formatHost, type ListenAddress } from '../flags/listen-address.ts';

export interface ObservationOptions {
  readonly listen: ListenAddress;
  /** The token for `/metrics` and the debug pages. If undefined, none is required, which is allowed only on a loopback address. */
  readonly token: string | undefined;
  /** Undefined if it is ready. */
  readonly notReadyBecause: () => string | undefined;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly debug: {
    readonly prefixes: readonly string[];
    readonly handler: HttpHandler;
    readonly pages: readonly ObservationPage[];
  };
}

/** Maximum number of connections, because scrapes and probes are few. */
const MAX_CONNECTIONS = 64;
const HEADERS_TIMEOUT_MS = 5000;

/** Serves health, metrics and the debug pages over plain HTTP, for probes, Prometheus and people. It cannot change the cluster. */
export class ObservationServer {
  readonly #options: ObservationOptions;
  readonly #server: Server;

  private constructor(options: ObservationOptions) {
    this.#options = options;
    this.#server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
      this.#answer(request).then(
        (answer) => send(response, answer, request.method === 'HEAD'),
        (error: unknown) => send(response, text(500, messageOf(error)), false),
      );
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Throws a {@link CommandError} for an address that cannot, or must not, be used. */
  static async start(options: ObservationOptions): Promise<ObservationServer> {
    const { host, port } = options.listen;
    if (!isLoopback(host) && options.token === undefined) {
      throw new CommandError(
        `--bind-address ${formatHost(host)}:${port} can be reached from other machines, and the debug graph names every object`,
        'Listen on 127.0.0.1, or give --bind-token-file with a file that holds a bearer token.',
      );
    }
    const server = new ObservationServer(options);
    await listen(server.#server, options.listen, '--bind-address');
    return server;
  }

  /** `http://127.0.0.1:10257` */
  get url(): string {
    const { listen: address } = this.#options;
    return `http://${formatHost(address.host)}:${portOf(this.#server, address)}`;
  }

  /** One line for each page, with its path first. */
  #index(): string {
    const pages = [...ownPages, ...this.#options.debug.pages];
    const width = Math.max(...pages.map(({ method, path }) => method.length + path.length + 1));
    const lines = pages.map(({ method, path, shows }) => `${`${method} ${path}`.padEnd(width)}  ${shows}\n`);
    return `kubegc\n\n${lines.join('')}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  async #answer({ method = 'GET', url = '/', headers }: IncomingMessage): Promise<HttpResponse> {
    const { token, notReadyBecause, metrics, debug } = this.#options;
    // A web page can make a browser call loopback under a name of its own, which the Host header then contains.
    if (token === undefined && !isLoopback(hostOf(headers.host ?? ''))) return text(421, 'ask for a loopback address');
    const path = url.split('?')[0] ?? '';
    const isDebug = debug.prefixes.some((prefix) => path.startsWith(`${prefix}/`));
    if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && isDebug)) {
      return withHeaders(text(405, 'only GET and HEAD, and POST for debug pages'), {
        allow: isDebug ? 'GET, HEAD, POST' : 'GET, HEAD',
      });
    }
    // A web page can also make a browser send a POST, which then has an Origin header.
    if (method === 'POST' && headers.origin !== undefined) return text(403, 'not for web pages');
    if (path === '/healthz' || path === '/livez') return text(200, 'ok');
    if (path === '/readyz') {
      const reason = notReadyBecause();
      return reason === undefined ? text(200, 'ok') : text(503, `not ready: ${reason}`);
    }
    if (path === '/') return text(200, this.#index());
    if (path !== '/metrics' && !isDebug) return text(404, `there is no ${path} here; / lists the pages`);
    if (token !== undefined && !isBearer(headers.authorization, token)) {
      return withHeaders(text(401, 'Unauthorized'), { 'www-authenticate': 'Bearer' });
    }
    if (isDebug) return debug.handler({ method: method === 'POST' ? 'POST' : 'GET', target: url, headers: {} });
    const page = await metrics();
    return { status: 200, headers: { 'content-type': page.contentType }, body: Buffer.from(page.text) };
  }
}

const PLAIN = 'text/plain; charset=utf-8';

/** A page of this server, for its index. */
export interface ObservationPage {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** A noun phrase for the content of the page. */
  readonly shows: string;
}

const ownPages: readonly ObservationPage[] = [
  { method: 'GET', path: '/healthz', shows: 'whether the process answers' },
  { method: 'GET', path: '/readyz', shows: 'whether the process is ready to work' },
  { method: 'GET', path: '/metrics', shows: 'metrics in the Prometheus format' },
];

function text(status: number, words: string): HttpResponse {
  return { status, headers: { 'content-type': PLAIN, 'x-content-type-options': 'nosniff' }, body: Buffer.from(words) };
}

function withHeaders(response: HttpResponse, headers: Readonly<Record<string, string>>): HttpResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}

function send(response: ServerResponse, { status, headers, body }: HttpResponse, headOnly: boolean): void {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  response.writeHead(status, { ...(headers as Record<string, string>), 'content-length': bytes.length });
  response.end(headOnly ? undefined : bytes);
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** The host of a `Host` header, without port and brackets. */
function hostOf(header: string): string {
  return (/^\[([^\]]*)\]/.exec(header)?.[1] ?? header.split(':')[0] ?? '').toLowerCase();
}

/** Takes the same time for every wrong token. The scheme is case-insensitive (RFC 9110, 11.1). */
function isBearer(header: string | undefined, token: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  const [, shown] = /^bearer +(.*)$/i.exec(header ?? '') ?? [];
  return shown !== undefined && timingSafeEqual(digest(shown), digest(token));
}
