import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { orAborted } from '../base/abort.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { AbortNotice } from '../base/abort-notice.ts';
import type { HttpHeaders, HttpRequest, HttpResponse } from '../base/http-message.ts';
import { type ClientCertificate, type ConnectOptions, parseServer } from './connect-options.ts';
import { opening, openSocket, openTlsSocket } from './connection-opening.ts';
import { ProxyTunnels } from './proxy-tunnel.ts';
import { abortedTransportError, closedError, transportErrorOf } from './transport-failure.ts';
import { type Transport, TransportError } from './transport.ts';

export interface Http2Options extends ConnectOptions {
  readonly clock: Clock;
  /** A session from which nothing came for this long is asked for a sign of life. */
  readonly pingAfterMs?: number;
  /** … and given up when none comes within this time. */
  readonly pingTimeoutMs?: number;
}

/** client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** Answers that say to be shorter than this are read at once, which is cheaper than a stream. */
const SMALL_BODY = 256 * 1024;
/** Bytes a stream may be ahead of its reader, and all streams together; the default 64 KiB makes lists slow. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 16 * 1024 * 1024;

/**
 * All requests over one HTTP/2 session, which is opened on demand and replaced when it ends, the server says GOAWAY, or there is another
 * client certificate: a server judges every request by that of its connection, and answers 401 when it has expired.
 */
export function http2Transport(options: Http2Options): Transport {
  return new Http2Transport(options);
}

class Http2Transport implements Transport {
  readonly #options: Http2Options;
  readonly #origin: string;
  readonly #prefix: string;
  #session: Promise<Session> | undefined;
  /**
   * Of all sessions. A session that both sides end at the same moment stops to read, and then never hears that its socket was closed: Node
   * would keep the socket, and for it the process.
   */
  readonly #sockets = new Set<Socket>();
  readonly #tunnels: ProxyTunnels;
  #closed = false;

  constructor(options: Http2Options) {
    this.#options = options;
    this.#tunnels = new ProxyTunnels(options);
    const { url, prefix } = parseServer(options.server);
    this.#origin = url.origin;
    this.#prefix = prefix;
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    const headers = credentials === undefined ? undefined : await credentials.headers();
    if (request.signal?.aborted === true) throw abortedTransportError(request.signal);
    try {
      let session = await orAborted(this.#usableSession(), request.signal, abortedTransportError);
      // Another request may have found that it has to be replaced, just before this one's turn.
      if (!session.usable) session = await orAborted(this.#usableSession(), request.signal, abortedTransportError);
      if (this.#closed) throw closedError();
      const response = await exchange(session, this.#prefix, { request, credentials: headers });
      if (response.status === 401) credentials?.rejected?.();
      return response;
    } catch (error) {
      throw this.#closed ? closedError(error) : transportErrorOf(error, request.signal);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tunnels.close();
    for (const socket of this.#sockets) socket.destroy();
    const session = await this.#session?.catch(() => undefined);
    session?.destroy();
  }

  /**
   * Node tells of the end of a session a turn later than it knows; such a session is replaced, once, and so is one that was opened
   * with another certificate than that of now.
   */
  async #usableSession(): Promise<Session> {
    const opening = this.#sessionNow();
    const session = await opening;
    if (session.usable && (await this.#hasPresentCertificate(session))) return session;
    if (this.#session === opening) {
      this.#session = undefined;
      session.retire();
    }
    return await this.#sessionNow();
  }

  async #hasPresentCertificate({ certPem }: Session): Promise<boolean> {
    const { credentials } = this.#options;
    if (credentials?.certificate === undefined) return true;
    return (await credentials.certificate())?.certPem === certPem;
  }

  #sessionNow(): Promise<Session> {
    if (this.#closed) return Promise.reject(closedError());
    if (this.#session !== undefined) return this.#session;
    const forget = (): void => {
      if (this.#session === opening) this.#session = undefined;
    };
    const opening = this.#openSession(forget).catch((error: unknown) => {
      forget();
      throw transportErrorOf(error);
    });
    this.#session = opening;
    return opening;
  }

  async #openSession(forget: () => void): Promise<Session> {
    const certificate = await this.#options.credentials?.certificate?.();
    const opened = this.#tunnels.open();
    const tunnel = opened === undefined ? undefined : await opened;
    if (this.#closed) {
      tunnel?.destroy();
      throw closedError();
    }
    const socket = this.#openSocket(certificate, tunnel);
    const http2 = connect(this.#origin, {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW },
    });
    const session = new Session(http2, certificate?.certPem, this.#options);
    // No new request goes to a session that ends; those under way may still be answered after a GOAWAY.
    http2.on('goaway', forget);
    http2.on('close', forget);
    http2.on('error', forget);
    await opening(http2, 'connect', this.#options.clock);
    http2.setLocalWindowSize(SESSION_WINDOW);
    return session;
  }

  #openSocket(certificate: ClientCertificate | undefined, tunnel: Socket | undefined): Socket {
    const { secure } = parseServer(this.#options.server);
    const socket = secure
      ? openTlsSocket(this.#options, { certificate, protocols: ['h2'], tunnel })
      : openSocket(this.#options);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // The session tells of them.
    socket.on('error', () => undefined);
    return socket;
  }
}

/** A session that notices when the other side is gone without a word. */
class Session {
  readonly #http2: ClientHttp2Session;
  /** Of the client certificate that the other side was shown. */
  readonly certPem: string | undefined;
  readonly #clock: Clock;
  readonly #pingAfterMs: number;
  readonly #pingTimeoutMs: number;
  #lastHeard: number;
  #timer: Timer | undefined;
  /** Begun and not ended. */
  #streams = 0;
  #retired = false;
  /** Why the session was given up. */
  gone: TransportError | undefined;

  constructor(http2: ClientHttp2Session, certPem: string | undefined, options: Http2Options) {
    this.#http2 = http2;
    this.certPem = certPem;
    this.#clock = options.clock;
    this.#pingAfterMs = options.pingAfterMs ?? PING_AFTER_MS;
    this.#pingTimeoutMs = options.pingTimeoutMs ?? PING_TIMEOUT_MS;
    this.#lastHeard = this.#clock.monotonic();
    http2.on('close', () => this.#timer?.cancel());
    http2.on('error', () => this.#timer?.cancel());
    this.#watch(this.#pingAfterMs);
  }

  get usable(): boolean {
    return !this.#retired && !this.#http2.closed && !this.#http2.destroyed;
  }

  begin(headers: OutgoingHttpHeaders, options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#http2.request(headers, options);
    this.#streams++;
    stream.once('close', () => {
      this.#streams--;
      this.#closeWhenDone();
    });
    return stream;
  }

  /** Something came from the server. */
  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  /**
   * Nothing new may begin, and the session is closed when what is under way has ended: a watch after the time it asked its server for,
   * anything else at its deadline, and all of it when the other side does not answer pings. Closed at once it could not ping any more.
   */
  retire(): void {
    this.#retired = true;
    this.#closeWhenDone();
  }

  destroy(): void {
    this.#timer?.cancel();
    this.#http2.destroy();
  }

  #closeWhenDone(): void {
    if (this.#retired && this.#streams === 0) this.#http2.close();
  }

  #watch(delay: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(delay, () => {
      const quiet = this.#clock.monotonic() - this.#lastHeard;
      if (quiet < this.#pingAfterMs) this.#watch(this.#pingAfterMs - quiet);
      else this.#ping();
    });
  }

  #ping(): void {
    this.#timer = this.#clock.setTimer(this.#pingTimeoutMs, () => {
      this.gone = new TransportError('timeout', 'the server does not answer pings');
      this.#http2.destroy(this.gone);
    });
    const sent =
      !this.#http2.destroyed &&
      this.#http2.ping((error) => {
        if (error !== null || this.#http2.destroyed) return;
        this.heard();
        this.#watch(this.#pingAfterMs);
      });
    if (!sent) this.#timer.cancel();
  }
}

function exchange(
  session: Session,
  prefix: string,
  message: { readonly request: HttpRequest; readonly credentials: HttpHeaders | undefined },
): Promise<HttpResponse> {
  const { request } = message;
  const { body, signal, refusal } = request;
  const hasBody = body !== undefined && body.length > 0;
  // While the session was opened: the event has passed.
  if (signal?.aborted === true) return Promise.reject(abortedTransportError(signal));
  const refused = refusal?.();
  if (refused !== undefined) return Promise.reject(refused);
  return new Promise((resolve, reject) => {
    // Node ends the stream at once for GET, HEAD and DELETE unless told otherwise; the body would be lost.
    const stream = session.begin(outgoingHeaders(prefix, message), { endStream: !hasBody });
    const onAbort = (): void => {
      stream.close(constants.NGHTTP2_CANCEL);
      // On a connection that has died unnoticed the stream would wait for its reset to be sent.
      stream.destroy();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    let answered = false;
    const letGo = (): void => signal?.removeEventListener('abort', onAbort);
    stream.on('error', reject);
    stream.on('close', () => {
      if (answered) return;
      letGo();
      reject(
        signal?.aborted === true
          ? abortedTransportError(signal)
          : (session.gone ?? new TransportError('reset', 'the stream ended without an answer')),
      );
    });
    stream.on('response', (headers) => {
      session.heard();
      const head = { status: headers[':status'] ?? 0, headers: incomingHeaders(headers) };
      const length = Number(headers['content-length'] ?? Number.NaN);
      if (length <= SMALL_BODY) {
        // Until the last byte is there the exchange counts as unanswered: an end in between rejects above.
        readAll(stream, length, (bytes) => {
          answered = true;
          session.heard();
          letGo();
          resolve({ ...head, body: bytes });
        });
      } else {
        answered = true;
        resolve({ ...head, body: readStream(stream, { session, signal, letGo }) });
      }
    });
    if (hasBody) stream.end(body);
  });
}

/** Calls back with the body when it has come whole, and never when it has not: Node ends cancelled streams, too. */
function readAll(stream: ClientHttp2Stream, length: number, done: (bytes: Uint8Array) => void): void {
  const chunks: Buffer[] = [];
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    chunks.push(chunk);
  });
  stream.on('end', () => {
    if (received !== length || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
    done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received));
  });
}

async function* readStream(
  stream: ClientHttp2Stream,
  { session, signal, letGo }: { session: Session; signal: AbortNotice | undefined; letGo: () => void },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) {
      session.heard();
      yield chunk as Uint8Array;
    }
    // Node ends the iteration without an error when a stream is cancelled or its session dies; END_STREAM tells the truth.
    if (!stream.readableEnded || stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
      throw session.gone ?? new TransportError('reset', `stream reset with code ${stream.rstCode}`);
    }
  } catch (error) {
    throw signal?.aborted === true ? abortedTransportError(signal) : transportErrorOf(error);
  } finally {
    letGo();
    // A stream that both sides have ended closes by itself. To reset it all the same would count against the client:
    // servers drop sessions with many resets (CVE-2023-44487).
    if (!stream.closed && !(stream.readableEnded && stream.writableFinished)) stream.close(constants.NGHTTP2_CANCEL);
  }
}

function outgoingHeaders(
  prefix: string,
  { request, credentials }: { readonly request: HttpRequest; readonly credentials: HttpHeaders | undefined },
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':method': request.method, ':path': prefix + request.target };
  for (const source of [credentials, request.headers]) {
    for (const name in source) {
      const value = source[name]!;
      headers[name] = typeof value === 'string' ? value : [...value];
    }
  }
  const length = request.body?.length ?? 0;
  if (length > 0) headers['content-length'] = length;
  return headers;
}

function incomingHeaders(headers: IncomingHttpHeaders): HttpHeaders {
  const out: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value: unknown = headers[name];
    if (name.startsWith(':') || value === undefined) continue;
    out[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return out;
}
