import type { Clock } from '../../base/time/clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';

/** The common part of answers of node:http and node:http2; the published types of the two do not overlap. */
export interface ResponseStream {
  writeHead(status: number, headers: Record<string, string | readonly string[]>): unknown;
  flushHeaders(): void;
  /** `onTaken` is called when the connection has taken it, or never will. */
  write(chunk: Uint8Array, onTaken?: () => void): unknown;
  end(chunk?: Uint8Array): unknown;
  destroy(): unknown;
  /** Bytes that the connection has not taken yet. */
  readonly writableLength: number;
  on(event: 'close' | 'error', listener: () => void): unknown;
  off(event: 'close' | 'error', listener: () => void): unknown;
}

interface WriteOptions {
  /** Answer to a HEAD: headers only. */
  readonly head: boolean;
  /** HTTP/1.1 only: no further request on this connection. */
  readonly lastOnConnection: boolean;
  /** The client has left. Asked here because the answers of node:http2 do not say so themselves. */
  gone(): boolean;
  readonly stallMs: number;
  readonly clock: Clock;
}

/** Larger pieces are written in slices of it: so the connection never holds more, and taking one is a sign of life. */
export const SLICE = 256 * 1024;
/**
 * The most bytes that wait for the connection before the next slice waits. Counted here: of HTTP/1.1 connections Node's own mark is far above
 * (see `http-server.ts`).
 */
const WAITING = 16 * 1024;

/**
 * Writes an answer and waits until the connection has taken it. A stream that the client left is ended by `return()`; a client
 * that takes nothing for `stallMs` is cut.
 */
export async function writeResponse(
  response: ResponseStream,
  answer: HttpResponse,
  options: WriteOptions,
): Promise<void> {
  const { body } = answer;
  const headers: Record<string, string | readonly string[]> = {};
  for (const name in answer.headers) headers[name] = answer.headers[name]!;
  if (options.lastOnConnection) headers['connection'] = 'close';
  const finished = body instanceof Uint8Array;
  if (finished && answer.status !== 204 && answer.status !== 304) headers['content-length'] = String(body.length);
  response.writeHead(answer.status, headers);
  if (options.head) {
    response.end();
    if (!finished) await body[Symbol.asyncIterator]().return?.();
    return;
  }
  if (finished && body.length <= SLICE) {
    if (body.length === 0) response.end();
    else response.end(body);
    return;
  }
  // A watch answers before its first event (API-120).
  response.flushHeaders();
  for await (const chunk of finished ? [body] : body) {
    if ((await writeSlices(response, chunk, options)) === 'cut') break;
  }
  response.end();
}

async function writeSlices(
  response: ResponseStream,
  chunk: Uint8Array,
  options: WriteOptions,
): Promise<'taken' | 'cut'> {
  for (const slice of slices(chunk)) {
    if (options.gone()) return 'cut';
    if (response.writableLength + slice.length < WAITING) {
      response.write(slice);
      continue;
    }
    if ((await taken(response, slice, options)) === 'goes on') continue;
    response.destroy();
    return 'cut';
  }
  return options.gone() ? 'cut' : 'taken';
}

function* slices(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.length; start += SLICE) yield body.subarray(start, start + SLICE);
}

/** Writes a slice and waits for the client to take it with all before it, or to leave. */
function taken(
  response: ResponseStream,
  slice: Uint8Array,
  { clock, stallMs }: Pick<WriteOptions, 'clock' | 'stallMs'>,
): Promise<'goes on' | 'stalled'> {
  return new Promise((resolve) => {
    const settle = (outcome: 'goes on' | 'stalled'): void => {
      timer.cancel();
      response.off('close', onEvent);
      resolve(outcome);
    };
    const onEvent = (): void => settle('goes on');
    const timer = clock.setTimer(stallMs, () => settle('stalled'));
    response.on('close', onEvent);
    response.write(slice, onEvent);
  });
}
