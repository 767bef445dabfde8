import type { Clock } from '../../base/time/clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';

/** The common interface of answers in node:http and node:http2, whose published types do not overlap. */
export interface ResponseStream {
  writeHead(status: number, headers: Record<string, string | readonly string[]>): unknown;
  flushHeaders(): void;
  /** `onTaken` is called when the connection has taken the chunk, or never will. */
  write(chunk: Uint8Array, onTaken?: () => void): unknown;
  end(chunk?: Uint8Array): unknown;
  destroy(): unknown;
  /** Bytes that are still buffered. */
  readonly writableLength: number;
  on(event: 'close' | 'error', listener: () => void): unknown;
  off(event: 'close' | 'error', listener: () => void): unknown;
}

interface WriteOptions {
  /** The answer to a HEAD has only headers. */
  readonly head: boolean;
  /** Only for HTTP/1.1: no further request uses this connection. */
  readonly lastOnConnection: boolean;
  /** True once the client has disconnected. The answers of node:http2 do not report it themselves. */
  gone(): boolean;
  readonly stallMs: number;
  readonly clock: Clock;
}

/**
 * Maximum size of a write. Larger chunks are split, so that the connection never buffers more, and each write that is taken shows that the
 * client reads.
 */
export const SLICE = 256 * 1024;
/**
 * Maximum buffered bytes before the next write waits. It is counted here, because Node's own limit on HTTP/1.1 connections is far higher
 * (see `http-server.ts`).
 */
const WAITING = 16 * 1024;

/**
 * Writes an answer and waits until the connection has taken it. If the client disconnects, the stream is ended by `return()`. A client that
 * reads nothing for `stallMs` is disconnected.
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
  // A watch sends its headers before its first event (API-120).
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

/** Writes a part, and waits until the client has read it or disconnects. */
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
