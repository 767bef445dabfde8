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
  /** Idle time after which a session is pinged. */
  readonly pingAfterMs?: number;
  /** Time after which a session without an answer to the ping is dropped. */
  readonly pingTimeoutMs?: number;
}

/** Flow-control windows of a stream and of a session in bytes; the default of 64 KiB makes lists slow. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 16 * 1024 * 1024;
/**
 * Maximum number of sessions, besides replaced ones. With 100 streams each, as kube-apiserver allows, only more than 25,600 watches need
 * more.
 */
const MAX_SESSIONS = 256;

/**
 * Sessions to one server. Another one is opened if all have reached the server's stream limit, as in Go's `http2.Transport`, and if there
 * is none: a session ended, the server sent GOAWAY, or the client certificate changed (a server authenticates every request by its
 * connection, and answers 401 once the certificate has expired).
 */
export class Http2Sessions {
  readonly #options: Http2Options;
  readonly #origin: string;
  readonly #secure: boolean;
  readonly #tunnels: ProxyTunnels;
  /** Oldest first. They are filled in this order, so that superfluous ones become empty. */
  #open: readonly Http2Session[] = [];
  /** The session that is being opened; at most one at a time. A caller that needs one waits for it and then checks whether it has room. */
  #opening: Promise<Http2Session> | undefined;
  /**
   * The sockets of all sessions. A session that both sides end at the same moment stops reading and misses the close of its socket, so Node
   * would keep the socket and the process.
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

  /** A session that the caller has entered. Rejects if none can be opened, or `signal` aborts the wait. */
  async enter(signal: AbortNotice | undefined): Promise<Http2Session> {
    // Each opened session has room for at least one waiting caller, unless the server ends it at once.
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

  /** Node reports the end of a session one turn late. */
  #withRoom(certPem: string | undefined): Http2Session | undefined {
    for (const session of this.#open) if (session.certPem !== certPem) session.retire();
    this.#open = this.#open.filter(({ usable }) => usable);
    return this.#open.find(({ hasRoom }) => hasRoom);
  }

  /** A session that is being opened, or a new one. */
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
    // The first frame of any server; before it the stream limit is unknown.
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
    // The session reports its errors.
    socket.on('error', () => undefined);
    return socket;
  }
}
