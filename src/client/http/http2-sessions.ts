import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { orAborted } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type ClientCertificate, type ConnectOptions, parseServer } from './connect-options.ts';
import { opening, openSocket, openTlsSocket } from './connection-opening.ts';
import { credentialCertificate } from './credential-headers.ts';
import { Http2Session } from './http2-session.ts';
import { ProxyTunnels } from './proxy-tunnel.ts';
import { abortedTransportError, closedError } from './transport-failure.ts';
import { TransportError } from './transport.ts';

export interface Http2Options extends ConnectOptions {
  readonly clock: Clock;
  /** A session from which nothing came for this long is asked for a sign of life. */
  readonly pingAfterMs?: number;
  /** … and given up when none comes within this time. */
  readonly pingTimeoutMs?: number;
}

/** Bytes a stream may be ahead of its reader, and all streams of a session together; the default 64 KiB makes lists slow. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 16 * 1024 * 1024;
/** The most sessions at once, besides replaced ones. With 100 streams each, as kube-apiserver allows, only 25,600 watches need more. */
const MAX_SESSIONS = 256;

/**
 * Sessions to one server. Another one is opened when all have as many streams as the server allows, as Go's `http2.Transport` does, and when
 * there is none: they end, the server says GOAWAY, or there is another client certificate, for a server judges every request by that of its
 * connection, and answers 401 when it has expired.
 */
export class Http2Sessions {
  readonly #options: Http2Options;
  readonly #origin: string;
  readonly #secure: boolean;
  readonly #tunnels: ProxyTunnels;
  /** The oldest first. They are filled in this order, so that those which are not needed become empty. */
  #open: readonly Http2Session[] = [];
  /** Opened one at a time; a caller that needs one waits for it, and then checks whether it has room. */
  #opening: Promise<Http2Session> | undefined;
  /**
   * The sockets of all sessions. A session that both sides end at the same moment stops to read, and then never hears that its socket was
   * closed: Node would keep the socket, and for it the process.
   */
  readonly #sockets = new Set<Socket>();
  #closed = false;

  constructor(options: Http2Options) {
    this.#options = options;
    this.#tunnels = new ProxyTunnels(options);
    const { url, secure } = parseServer(options.server);
    this.#origin = url.origin;
    this.#secure = secure;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** A session that the caller has entered. Rejects when none can be opened, or `signal` aborts the wait. */
  async enter(signal: AbortNotice | undefined): Promise<Http2Session> {
    // Each session that is opened has room for one of those who wait for it, unless the server ends it at once.
    for (let ended = 0; ended < 2;) {
      const certificate = await credentialCertificate(this.#options.credentials, signal);
      const session = this.#withRoom(certificate?.certPem) ?? (await this.#another(certificate, signal));
      if (this.#closed) throw closedError();
      if (session.certPem === certificate?.certPem && session.hasRoom) {
        session.enter();
        return session;
      }
      if (!session.usable) ended++;
    }
    throw new TransportError('reset', 'the server ends each session as soon as it is open');
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tunnels.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#opening?.catch(() => undefined);
    for (const session of this.#open) session.destroy();
  }

  /** Node reports the end of a session a turn after it happened. */
  #withRoom(certPem: string | undefined): Http2Session | undefined {
    for (const session of this.#open) if (session.certPem !== certPem) session.retire();
    this.#open = this.#open.filter(({ usable }) => usable);
    return this.#open.find(({ hasRoom }) => hasRoom);
  }

  /** One that is on its way to be opened, or is opened now. */
  #another(certificate: ClientCertificate | undefined, signal: AbortNotice | undefined): Promise<Http2Session> {
    if (this.#opening === undefined && this.#open.length >= MAX_SESSIONS) {
      const full = `the server takes no more streams on any of the ${MAX_SESSIONS} sessions with it`;
      throw new TransportError('refused', full);
    }
    this.#opening ??= this.#openSession(certificate).finally(() => (this.#opening = undefined));
    return orAborted(this.#opening, signal, abortedTransportError);
  }

  async #openSession(certificate: ClientCertificate | undefined): Promise<Http2Session> {
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
    const { clock, pingAfterMs, pingTimeoutMs } = this.#options;
    const session = new Http2Session(http2, {
      certPem: certificate?.certPem,
      clock,
      pingAfterMs,
      pingTimeoutMs,
      spare: (empty) => this.#open.some((other) => other !== empty && other.hasRoom),
    });
    const forget = (): void => {
      this.#open = this.#open.filter((other) => other !== session);
    };
    http2.on('close', forget);
    http2.on('error', forget);
    // The first that comes from any server, and before it nobody knows how many streams it takes.
    await opening(http2, 'remoteSettings', clock);
    http2.setLocalWindowSize(SESSION_WINDOW);
    this.#open = [...this.#open, session];
    return session;
  }

  #openSocket(certificate: ClientCertificate | undefined, tunnel: Socket | undefined): Socket {
    const socket = this.#secure
      ? openTlsSocket(this.#options, { certificate, protocols: ['h2'], tunnel })
      : openSocket(this.#options);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // The session reports them.
    socket.on('error', () => undefined);
    return socket;
  }
}
