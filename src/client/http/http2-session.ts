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
  /** The digest of the client certificate that the server saw. */
  readonly certPem: string | undefined;
  readonly clock: Clock;
  readonly pingAfterMs: number | undefined;
  readonly pingTimeoutMs: number | undefined;
  /** Whether there is room for requests elsewhere: then it ends after a while without any. */
  readonly spare: (session: Http2Session) => boolean;
}

/** client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** The limit that Go assumes for a server whose SETTINGS are not there yet, and of one that announces no limit. */
const INITIAL_STREAMS = 100;
const MOST_STREAMS = 1000;

/** A session that knows how many streams its server allows, and notices when the other side is gone without a word. */
export class Http2Session {
  readonly #http2: ClientHttp2Session;
  readonly certPem: string | undefined;
  readonly #clock: Clock;
  readonly #pingAfterMs: number;
  readonly #pingTimeoutMs: number;
  readonly #spare: Http2SessionOptions['spare'];
  #lastHeard: number;
  #timer: Timer | undefined;
  /** Those who have entered and not left. */
  #streams = 0;
  #retired = false;
  /** A collector has one. */
  readonly #greetings = new Map<Greeting, Promise<void>>();
  /** Why the session was given up. */
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
   * One more request may begin. A request that begins without room is not refused: nghttp2 silently holds it until another one ends,
   * which for watches is minutes later. The limit is that of the newest SETTINGS; of those below 1 one request waits for a larger one.
   */
  get hasRoom(): boolean {
    const { maxConcurrentStreams = INITIAL_STREAMS } = this.#http2.remoteSettings;
    return this.usable && this.#streams < Math.max(1, Math.min(maxConcurrentStreams, MOST_STREAMS));
  }

  /** Takes a place for a request, which ends with its stream or, where none begins, with {@link Http2Session.leave}. */
  enter(): void {
    this.#streams++;
  }

  leave(): void {
    this.#streams--;
    this.#closeWhenDone();
  }

  /** The stream of a request that has entered. */
  begin(headers: OutgoingHttpHeaders, options: ClientSessionRequestOptions): ClientHttp2Stream {
    try {
      return this.#http2.request(headers, options).once('close', () => this.leave());
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Finds out the identity of the server, once. The next request repeats a failed attempt. */
  greeted(greeting: Greeting, greet: () => Promise<void>): Promise<void> {
    const known = this.#greetings.get(greeting);
    if (known !== undefined) return known;
    const asked = greet();
    this.#greetings.set(greeting, asked);
    asked.catch(() => this.#greetings.delete(greeting));
    return asked;
  }

  /** Something came from the server. */
  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  /**
   * Nothing new may enter, and the session is closed when what is under way has ended: a watch after the time it asked its server for,
   * anything else at its deadline, and all of it when the other side gives no sign of life.
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
    // After a GOAWAY streams may go on for minutes, but Node counts the session as closed and sends no PING on it any more. SETTINGS it
    // does send, and who gets them, even if they set nothing, has to acknowledge them.
    if (this.#http2.closed) this.#http2.settings({}, answered);
    else this.#http2.ping(answered);
  }
}
