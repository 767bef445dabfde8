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
  /** The certificate, with those between it and its authority, as PEM. */
  readonly certPem: string;
  /** Signs the client certificates we believe; without it none is asked for. */
  readonly clientCaPem?: string;
}

/** Where and how a handler is served. */
export interface ServeOptions {
  /** Answers the requests. */
  readonly handler: HttpHandler;
  /** Absent: cleartext HTTP/1.1, which must be asked for with `cleartext: true` (API-370). */
  readonly tls?: TlsMaterial;
  /** Without TLS. */
  readonly cleartext?: true;
  /** The address to listen on. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Times idle connections; the one of this machine unless given. */
  readonly clock?: Clock;
  /** The most body bytes kept of one request; the handler sees one byte more and refuses it (API-007). */
  readonly bodyLimit?: number;
}

/** A listener that runs. */
export interface HttpServer {
  /** The port that it listens on. */
  readonly port: number;
  /** `https://host:port` or `http://host:port`. */
  readonly url: string;
  /** Stops accepting, ends streams (watches), waits for answers under way up to {@link CLOSE_GRACE_MS}. */
  close(): Promise<void>;
}

/** Time answers under way get when the server closes; then sockets are cut, so that close takes less than a second. */
const CLOSE_GRACE_MS = 500;

/** A client that takes nothing of an answer for so long is cut, so that a half-open watch holds its place no longer (API-136). */
const WRITE_STALL_MS = 60_000;

/** A body has to be there in the time a request has as a whole (API-006). */
const BODY_TIMEOUT_MS = 60_000;
/** A client that sends nothing of its body for so long is cut: it holds memory that others need. */
const BODY_IDLE_MS = 10_000;

/** After so long without a sign of life the kernel asks whether a client is still there. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/** Request line and headers of HTTP/1: selectors and continue tokens may be long. HTTP/2 has bounds of its own, near this one. */
const MAX_HEADER_BYTES = 128 * 1024;

/**
 * Bytes of answers on one connection beyond which Node reads no further requests from it. An answer itself never has so much waiting.
 * With Node's own 16 KiB a client that sent its next request the moment it had an answer met a pause, and where the request came over TLS
 * in several records, Node took the second of them for an error (HPE_PAUSED) and cut the connection: a third of the writes of 500 KiB.
 * Beyond it, with answers to pipelined requests, that may still happen.
 */
const CONNECTION_HIGH_WATER_MARK = 4 * SLICE;

type Request = IncomingMessage | Http2ServerRequest;

/**
 * Serves a handler over HTTP/2 and HTTP/1.1 on one TLS port, chosen by ALPN (API-015), or over cleartext HTTP/1.1.
 * A client that goes away aborts the handler's signal; a slow reader is waited for, never buffered for, and one that does not read
 * at all is cut.
 */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const exchanges = new Exchanges(options);
  const server = createListener(options, (request, response) => {
    // A surprise here concerns one exchange; unhandled it would end the process.
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
  // A failed handshake or a broken frame concerns one connection only; Node has destroyed it already.
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
      // Certificates are optional and judged per request: a bad one makes a user unknown, not the handshake fail.
      ...(tls.clientCaPem === undefined ? {} : { ca: tls.clientCaPem, requestCert: true, rejectUnauthorized: false }),
      // Uploads of 3 MiB should not wait for window updates. kube-apiserver offers 100 parallel streams since CVE-2023-44487, and 250 before;
      // with 250 the watches of a client that has one for each resource fit on one session.
      settings: { initialWindowSize: 1 << 20, maxConcurrentStreams: 250 },
    },
    (request, response) => listener(request, response as unknown as ResponseStream),
  );
  // Its constructor takes no such option, but its HTTP/1 connections look for it here.
  return Object.assign(server, { maxHeaderSize: MAX_HEADER_BYTES });
}

/** TLS sockets that a server makes take no option for it. */
function raiseHighWaterMark(socket: TLSSocket): void {
  const { _writableState: state } = socket as unknown as { _writableState: { highWaterMark: number } };
  state.highWaterMark = CONNECTION_HIGH_WATER_MARK;
}

/** Clients of a proxy name the whole URL. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  return target.startsWith('?') || target === '' ? `/${target}` : target;
}

/** Requests under way on one server, so that closing can end them. Bounded by the connections' streams. */
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
    // Read first: a connection that breaks forgets who was at its other end.
    const peer = peerOf(request.socket as TLSSocket);
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
    // A write after the client has gone is reported here; the close event says what matters.
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
      // Handlers answer every failure themselves; what arrives here broke while the answer was being written.
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

/** Node joins a repeated header into one text with commas; names of groups may hold commas themselves. */
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
