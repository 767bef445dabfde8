import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from 'node:http2';
import type { Greeting } from '../../base/http-message.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import { TransportError } from './transport.ts';

export interface Http2SessionOptions {
  /** The client certificate that the server saw. */
  readonly certPem: string | undefined;
  readonly clock: Clock;
  readonly pingAfterMs: number | undefined;
  readonly pingTimeoutMs: number | undefined;
  /** True if other sessions have room for its requests. Then the session is closed after a while without any. */
  readonly spare: (session: Http2Session) => boolean;
}

/** client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** The limit that Go assumes before a server's SETTINGS arrive, and for one that announces none. */
const INITIAL_STREAMS = 100;
const MOST_STREAMS = 1000;

/** A session that respects the server's stream limit and detects a server that vanished silently. */
export class Http2Session {
  readonly #http2: ClientHttp2Session;
  readonly certPem: string | undefined;
  readonly #clock: Clock;
  readonly #pingAfterMs: number;
  readonly #pingTimeoutMs: number;
  readonly #spare: Http2SessionOptions['spare'];
  #lastHeard: number;
  #timer: Timer | undefined;
  /** The number of callers that have entered and not left. */
  #streams = 0;
  #retired = false;
  /** The callers that verified the server. A collector is one caller. */
  readonly #greetings = new Map<Greeting, Promise<void>>();
  /** The reason why the session is no longer used. */
  gone: TransportError | undefined;

  constructor(http2: ClientHttp2Session, options: Http2SessionOptions) {
    this.#http2 = http2;
    this.certPem = options.certPem;
    this.#clock = options.clock;
    this.#pingAfterMs = options.pingAfterMs ?? PING_AFTER_MS;
    this.#pingTimeoutMs = options.pingTimeoutMs ?? PING_TIMEOUT_MS;
    this.#spare = options.spare;
    this.#lastHeard = this.#clock.monotonic();
    http2.on('close', () => this.#timer?.cancel());
    http2.on('error', () => this.#timer?.cancel());
    this.#watch(this.#pingAfterMs);
  }

  get usable(): boolean {
    return !this.#retired && !this.#http2.closed && !this.#http2.destroyed;
  }

  /**
   * True if one more request may begin. nghttp2 would silently hold a request beyond the limit until another one ends, which for watches
   * takes minutes. The limit is that of the latest SETTINGS; below 1, one request waits for a larger one.
   */
  get hasRoom(): boolean {
    const { maxConcurrentStreams = INITIAL_STREAMS } = this.#http2.remoteSettings;
    return this.usable && this.#streams < Math.max(1, Math.min(maxConcurrentStreams, MOST_STREAMS));
  }

  /** Reserves a place for a request. It is released with the request's stream or, if none begins, by {@link Http2Session.leave}. */
  enter(): void {
    this.#streams++;
  }

  leave(): void {
    this.#streams--;
    this.#closeWhenDone();
  }

  /** Begins the stream of a request that has entered. */
  begin(headers: OutgoingHttpHeaders, options: ClientSessionRequestOptions): ClientHttp2Stream {
    try {
      return this.#http2.request(headers, options).once('close', () => this.leave());
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Verifies the identity of the server, once. The next request repeats a failed attempt. */
  greeted(greeting: Greeting, greet: () => Promise<void>): Promise<void> {
    const known = this.#greetings.get(greeting);
    if (known !== undefined) return known;
    const asked = greet();
    this.#greetings.set(greeting, asked);
    asked.catch(() => this.#greetings.delete(greeting));
    return asked;
  }

  /** Called when any data has arrived from the server. */
  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  /**
   * Refuses new requests, and closes the session when those in progress have ended: a watch after its requested time, any other request at
   * its deadline, and all of them if the server gives no sign of life.
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
      else if (this.#streams === 0 && this.#spare(this)) this.retire();
      else this.#ping();
    });
  }

  #ping(): void {
    if (this.#http2.destroyed) return;
    this.#timer = this.#clock.setTimer(this.#pingTimeoutMs, () => {
      this.gone = new TransportError('timeout', 'the server does not answer pings');
      this.#http2.destroy(this.gone);
    });
    const answered = (error: Error | null): void => {
      if (error !== null || this.#http2.destroyed) return;
      this.heard();
      this.#watch(this.#pingAfterMs);
    };
    // After a GOAWAY streams may continue for minutes, but Node treats the session as closed and sends no PING on it. It does send
    // SETTINGS, which the server must acknowledge even if they are empty.
    if (this.#http2.closed) this.#http2.settings({}, answered);
    else this.#http2.ping(answered);
  }
}
