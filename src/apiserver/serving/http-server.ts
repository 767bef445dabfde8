import { createServer, type IncomingMessage } from 'node:http';
import { createSecureServer, type Http2SecureServer, Http2ServerRequest, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Bag } from '../../base/collections/bag.ts';
import type { Clock } from '../../base/time/clock.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { HttpHandler, HttpHeaders } from '../../base/http-message.ts';
import { BodyBudget } from './body-budget.ts';
import { IncomingRequest } from './incoming-request.ts';
import { peerOf } from './peer.ts';
import { announcesBody, BodyReader } from './request-body.ts';
import { type ResponseStream, SLICE, writeResponse } from './response-body.ts';

/** The certificate and key of a server. */
export interface TlsMaterial {
  /** Its private key, as PEM. */
  readonly keyPem: string;
  /** The certificate and its intermediate certificates, as PEM. */
  readonly certPem: string;
  /** The authority of client certificates; without it none is requested. */
  readonly clientCaPem?: string;
}

/** Where and how a handler is served. */
export interface ServeOptions {
  /** Answers the requests. */
  readonly handler: HttpHandler;
  /** If absent, cleartext HTTP/1.1, which requires `cleartext: true` (API-370). */
  readonly tls?: TlsMaterial;
  /** Serves without TLS. */
  readonly cleartext?: true;
  /** The address to listen on. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** The clock for idle timeouts; the system's by default. */
  readonly clock?: Clock;
  /** Maximum stored body bytes of one request. The handler gets one byte more and refuses it (API-007). */
  readonly bodyLimit?: number;
}

/** A running listener. */
export interface HttpServer {
  /** The port that it listens on. */
  readonly port: number;
  /** `https://host:port` or `http://host:port`. */
  readonly url: string;
  /** Stops accepting, ends streams (watches), and waits for answers in progress up to {@link CLOSE_GRACE_MS}. */
  close(): Promise<void>;
}

/** Time for answers in progress when the server closes. Then connections are closed, so that closing takes less than a second. */
const CLOSE_GRACE_MS = 500;

/** A client that reads nothing of an answer for this time is disconnected, so that a half-open watch does not stay (API-136). */
const WRITE_STALL_MS = 60_000;

/** Maximum duration of a body, equal to that of a request (API-006). */
const BODY_TIMEOUT_MS = 60_000;
/** A client that sends nothing of its body for this time is disconnected, because it holds memory. */
const BODY_IDLE_MS = 10_000;

/** Idle time after which the kernel probes the connection. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * Maximum size of request line and headers in HTTP/1, because selectors and continue tokens may be long. HTTP/2 has a similar limit of its
 * own.
 */
const MAX_HEADER_BYTES = 128 * 1024;

/**
 * The number of buffered answer bytes on one connection at which Node stops reading requests from it. An answer itself never buffers so
 * much. With Node's default of 16 KiB, a client that sent its next request directly after an answer could be paused, and if that request
 * came in several TLS records, Node reported an error for the second (HPE_PAUSED) and closed the connection: this happened to a third of
 * the writes of 500 KiB. With pipelined requests it may still happen above this limit.
 */
const CONNECTION_HIGH_WATER_MARK = 4 * SLICE;

type Request = IncomingMessage | Http2ServerRequest;

/**
 * Serves a handler over HTTP/2 and HTTP/1.1 on one TLS port, chosen by ALPN (API-015), or over cleartext HTTP/1.1. When a client
 * disconnects, the handler's signal is aborted. A slow reader delays its answer without buffering, and one that does not read at all is
 * disconnected.
 */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const exchanges = new Exchanges(options);
  const server = createListener(options, (request, response) => {
    // An unexpected error concerns one exchange; unhandled it would end the process.
    exchanges.serve(request, response).catch(() => response.destroy());
  });
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    raiseHighWaterMark(socket);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  // A failed handshake or a malformed frame concerns only one connection, which Node has already destroyed.
  server.on('tlsClientError', () => undefined);
  server.on('sessionError', () => undefined);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    exchanges.abortAll();
    for (const session of sessions) session.close();
    await exchanges.idle(CLOSE_GRACE_MS);
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port,
    url: `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    close: () => (closing ??= close()),
  };
}

function createListener(
  options: ServeOptions,
  listener: (request: Request, response: ResponseStream) => void,
): NetServer | Http2SecureServer {
  const { tls } = options;
  if (tls === undefined) {
    if (options.cleartext !== true) throw new TypeError('cleartext HTTP must be asked for');
    return createServer(
      { keepAliveTimeout: 0, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
      (request, response) => listener(request, response as unknown as ResponseStream),
    );
  }
  const server = createSecureServer(
    {
      allowHTTP1: true,
      key: tls.keyPem,
      cert: tls.certPem,
      minVersion: 'TLSv1.2',
      // Client certificates are optional and checked for each request: an invalid one makes the user unknown instead of failing the
      // handshake.
      ...(tls.clientCaPem === undefined ? {} : { ca: tls.clientCaPem, requestCert: true, rejectUnauthorized: false }),
      // A window that lets uploads of 3 MiB proceed without updates. kube-apiserver allows 100 parallel streams since CVE-2023-44487, and
      // 250 before; with 250 the watches of a client with one for each resource fit on one session.
      settings: { initialWindowSize: 1 << 20, maxConcurrentStreams: 250 },
    },
    (request, response) => listener(request, response as unknown as ResponseStream),
  );
  // The constructor has no such option, but HTTP/1 connections of the server read this property.
  return Object.assign(server, { maxHeaderSize: MAX_HEADER_BYTES });
}

/** Raises the limit on the server's TLS sockets, which have no option for it. */
function raiseHighWaterMark(socket: TLSSocket): void {
  const { _writableState: state } = socket as unknown as { _writableState: { highWaterMark: number } };
  state.highWaterMark = CONNECTION_HIGH_WATER_MARK;
}

/** Clients of a proxy send the whole URL. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  return target.startsWith('?') || target === '' ? `/${target}` : target;
}

/** Requests in progress on one server, so that closing can end them. The connections' streams bound their number. */
class Exchanges {
  readonly #handler: HttpHandler;
  readonly #clock: Clock;
  readonly #bodyLimit: number;
  readonly #active = new Bag<IncomingRequest>();
  readonly #bodies = new BodyBudget();
  #onIdle: (() => void) | undefined;

  constructor(options: ServeOptions) {
    this.#handler = options.handler;
    this.#clock = options.clock ?? systemClock;
    this.#bodyLimit = options.bodyLimit ?? 3 * 1024 * 1024;
  }

  async serve(request: Request, response: ResponseStream): Promise<void> {
    const multiplexed = request instanceof Http2ServerRequest;
    if (!multiplexed && request.httpVersionMajor !== 1) {
      response.writeHead(505, { connection: 'close' });
      response.end();
      return;
    }
    // The peer is read first, because a connection that breaks forgets it.
    const peer = peerOf(request.socket as TLSSocket, this.#clock.now());
    const reader = announcesBody(request)
      ? new BodyReader(request, {
          limit: this.#bodyLimit,
          timeoutMs: BODY_TIMEOUT_MS,
          idleMs: BODY_IDLE_MS,
          clock: this.#clock,
          budget: this.#bodies,
        })
      : undefined;
    if (reader === undefined) request.resume();
    const incoming = new IncomingRequest({
      method: request.method ?? 'GET',
      target: originForm(request.url ?? '/'),
      headers: requestHeaders(request),
      reader,
      peer,
    });
    const slot = this.#active.add(incoming);
    let gone = false;
    const onClose = (): void => {
      gone = true;
      incoming.abort();
    };
    response.on('close', onClose);
    // A write after the client has disconnected is reported here; the close event handles it.
    response.on('error', onClose);
    try {
      const answer = await this.#handler(incoming);
      await writeResponse(response, answer, {
        head: request.method === 'HEAD',
        lastOnConnection: !multiplexed && reader?.lastOnConnection === true,
        gone: () => gone,
        stallMs: WRITE_STALL_MS,
        clock: this.#clock,
      });
    } catch {
      // Handlers answer all failures themselves; an error here occurred while the answer was being written.
      response.destroy();
    } finally {
      response.off('close', onClose);
      reader?.release();
      this.#active.remove(slot);
      if (this.#active.size === 0) this.#onIdle?.();
    }
  }

  abortAll(): void {
    for (const request of this.#active.items()) request.abort();
  }

  async idle(timeoutMs: number): Promise<void> {
    if (this.#active.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(timeoutMs, resolve);
      this.#onIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

/** Node joins repeated headers with commas, but names of groups may contain commas. */
function requestHeaders(request: Request): HttpHeaders {
  const headers = request.headers as HttpHeaders;
  if (!('impersonate-user' in headers)) return headers;
  const apart: Record<string, string | readonly string[]> = { ...headers };
  const { rawHeaders } = request;
  for (const name of Object.keys(headers)) {
    if (!name.startsWith('impersonate-')) continue;
    apart[name] = rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  }
  return apart;
}
