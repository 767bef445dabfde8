import type { IncomingMessage } from 'node:http';
import { constants, Http2ServerRequest } from 'node:http2';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { BodyBudget } from './body-budget.ts';

export type BodyOutcome = 'complete' | 'refused' | 'aborted';

export interface BodyReaderOptions {
  /** Bytes. */
  readonly limit: number;
  /** Maximum duration of the whole body, ms. */
  readonly timeoutMs: number;
  /** Maximum wait for its next part, ms. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly budget: BodyBudget;
}

type Request = IncomingMessage | Http2ServerRequest;

/** Maximum size of an unread body that is read and dropped, so that an HTTP/1.1 connection can be reused (as in Go), bytes. */
const DROPPED_BYTES = 256 * 1024;

/**
 * The body of one request. Nothing is read before {@link BodyReader.read}; until then flow control delays the client. Invariant: stored
 * bytes count in the budget until {@link BodyReader.release}.
 */
export class BodyReader {
  readonly #request: Request;
  readonly #options: BodyReaderOptions;
  readonly #connection: object;
  #taken = 0;
  #cut: () => void = () => undefined;
  #state: 'unread' | 'reading' | 'done' | 'cut' = 'unread';

  constructor(request: Request, options: BodyReaderOptions) {
    this.#request = request;
    this.#options = options;
    this.#connection = request instanceof Http2ServerRequest ? (request.stream.session ?? request) : request.socket;
  }

  /**
   * The whole body, up to one byte beyond the limit, so that a body that is too large is detected without being stored. A slow client is
   * disconnected.
   */
  read(): Promise<{ readonly outcome: BodyOutcome; readonly bytes?: Uint8Array }> {
    const { limit, timeoutMs, idleMs, clock, budget } = this.#options;
    const request = this.#request;
    if (request.destroyed) {
      this.#state = 'cut';
      return Promise.resolve({ outcome: 'aborted' });
    }
    this.#state = 'reading';
    return new Promise((settle) => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      const deadline = clock.monotonic() + timeoutMs;
      let timer: Timer | undefined;
      const resolve = (outcome: BodyOutcome, bytes?: Uint8Array): void => {
        if (this.#state !== 'reading') return;
        this.#state = outcome === 'complete' && length <= limit ? 'done' : 'cut';
        timer?.cancel();
        settle(bytes === undefined ? { outcome } : { outcome, bytes });
      };
      this.#cut = () => {
        resolve('aborted');
        abandon(request);
      };
      const awaitNext = (): void => {
        timer?.cancel();
        timer = clock.setTimer(Math.min(idleMs, deadline - clock.monotonic()), () => this.cut());
      };
      awaitNext();
      request.on('data', (chunk: Uint8Array) => {
        if (this.#state !== 'reading') return;
        if (!budget.take(this.#connection, chunk.length)) return resolve('refused');
        this.#taken += chunk.length;
        length += chunk.length;
        chunks.push(chunk);
        if (length > limit) resolve('complete', Buffer.concat(chunks, limit + 1));
        else awaitNext();
      });
      request.once('end', () => {
        const only = chunks[0];
        resolve('complete', chunks.length === 1 ? only : Buffer.concat(chunks, length));
      });
      request.once('error', () => resolve('aborted'));
      request.once('close', () => resolve('aborted'));
    });
  }

  /** Ends a body that is being read, because the client disconnected or the server closes. */
  cut(): void {
    if (this.#state === 'reading') this.#cut();
  }

  /** True if the rest of the body is still to come. Then an HTTP/1.1 connection can carry another request only if the rest is small. */
  get lastOnConnection(): boolean {
    if (this.#state === 'done') return false;
    const announced = Number(this.#request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    return this.#state !== 'unread' || announced > DROPPED_BYTES;
  }

  /** Called after the answer: stops a client that still sends, and returns the bytes to the budget. */
  release(): void {
    const request = this.#request;
    this.#options.budget.giveBack(this.#connection, this.#taken);
    this.#taken = 0;
    if (this.#state === 'done') return;
    if (!(request instanceof Http2ServerRequest)) {
      request.resume();
      return;
    }
    // The answer is complete, so the client need not send the rest (RFC 9113, 8.1). Not in the same turn as the end of the
    // answer, because Node would never send the reset, and the client would wait for ever.
    const { stream } = request;
    const stop = (): void => void setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    if (stream.writableFinished) stop();
    else stream.once('finish', stop);
  }
}

/** True if the head of a request announces a body. */
export function announcesBody(request: Request): boolean {
  const { headers } = request;
  if (headers['content-length'] !== undefined) return headers['content-length'] !== '0';
  // Tests the class, because the version in the request line comes from the client.
  if (request instanceof Http2ServerRequest) return !request.stream.endAfterHeaders;
  return headers['transfer-encoding'] !== undefined;
}

function abandon(request: Request): void {
  if (request instanceof Http2ServerRequest) request.stream.close(constants.NGHTTP2_CANCEL);
  else request.destroy();
}
