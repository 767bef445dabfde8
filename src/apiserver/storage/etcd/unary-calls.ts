import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { DescMethodUnary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Http2SessionManager } from '@connectrpc/connect-node';
import type { Clock } from '../../../base/clock.ts';

/** NGHTTP2_CANCEL. */
const CANCEL = 0x8;
/** Of a gRPC message: whether it is compressed, and its length, big endian. */
const PREFIX_BYTES = 5;

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

export interface UnaryCallOptions {
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UnaryCallsOptions {
  readonly session: Http2SessionManager;
  readonly clock: Clock;
  /** Larger answers are an error. */
  readonly readLimitBytes: number;
}

/**
 * gRPC calls with one message each way. connect's own client, made for every protocol and platform, takes four times the CPU of this
 * (designs/0005), and such calls are all that a write or a read of etcd is; streams, and what is called rarely, go through connect. The
 * connection, its pings and its end are connect's as well, and so are the errors.
 */
export class UnaryCalls {
  readonly #options: UnaryCallsOptions;

  constructor(options: UnaryCallsOptions) {
    this.#options = options;
  }

  /** Rejects with ConnectError. */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { timeoutMs, headers }: UnaryCallOptions,
  ): Promise<MessageShape<O>> {
    const frame = frameOf(toBinary(method.input, create(method.input, request)));
    const path = `/${method.parent.typeName}/${method.name}`;
    const deadline = new Deadline(this.#options.clock, timeoutMs);
    try {
      const stream = await deadline.race(
        this.#options.session.request(
          'POST',
          path,
          { ...headers, te: 'trailers', 'content-type': 'application/grpc+proto', 'grpc-timeout': `${timeoutMs}m` },
          {},
        ),
      );
      stream.end(frame);
      return fromBinary(method.output, await this.#answer(stream, deadline));
    } finally {
      deadline.stop();
    }
  }

  #answer(stream: ClientHttp2Stream, deadline: Deadline): Promise<Uint8Array> {
    const { session, readLimitBytes } = this.#options;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let state: 'open' | 'settled' = 'open';
      let head: Headers = {};
      let tail: Headers | undefined;
      const fail = (error: ConnectError): void => {
        state = 'settled';
        reject(error);
        if (!stream.closed) stream.close(CANCEL);
      };
      deadline.onPassed(fail);
      stream.on('response', (headers) => (head = headers));
      stream.on('trailers', (headers) => (tail = headers));
      stream.on('data', (chunk: Buffer) => {
        session.notifyResponseByteRead(stream);
        bytes += chunk.length;
        if (bytes > readLimitBytes) {
          fail(new ConnectError(`the answer is larger than ${readLimitBytes} bytes`, Code.FailedPrecondition));
        } else chunks.push(chunk);
      });
      stream.on('error', (error) => fail(lost(error)));
      // It may break without an error.
      stream.on('close', () => {
        if (state === 'open') fail(new ConnectError('the connection was closed', Code.Unavailable));
      });
      stream.on('end', () => {
        try {
          assertOk(head, tail ?? head);
          resolve(messageOf(chunks));
          state = 'settled';
        } catch (error) {
          fail(ConnectError.from(error));
        }
      });
    });
  }
}

/** When a call has to be over. */
class Deadline {
  readonly #timer: { cancel(): void };
  #passed: ((error: ConnectError) => void) | undefined;

  constructor(clock: Clock, timeoutMs: number) {
    const error = (): ConnectError => new ConnectError(`no answer within ${timeoutMs} ms`, Code.DeadlineExceeded);
    this.#timer = clock.setTimer(timeoutMs, () => this.#passed?.(error()));
  }

  /** Replaces who was told before. */
  onPassed(passed: (error: ConnectError) => void): void {
    this.#passed = passed;
  }

  /** A stream that comes too late is cancelled. */
  race(opening: Promise<ClientHttp2Stream>): Promise<ClientHttp2Stream> {
    return new Promise((resolve, reject) => {
      let late = false;
      this.onPassed((error) => {
        late = true;
        reject(error);
      });
      opening.then((stream) => {
        if (!late) return resolve(stream);
        stream.on('error', () => undefined);
        return stream.close(CANCEL);
      }, reject);
    });
  }

  stop(): void {
    this.#timer.cancel();
    this.#passed = undefined;
  }
}

function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Exactly one message, not compressed. */
function messageOf(chunks: readonly Buffer[]): Uint8Array {
  const [only] = chunks;
  const frame = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  if (frame.length < PREFIX_BYTES || frame[0] !== 0 || frame.readUInt32BE(1) !== frame.length - PREFIX_BYTES) {
    throw new ConnectError('the answer is not one gRPC message', Code.Internal);
  }
  return frame.subarray(PREFIX_BYTES);
}

/** The status stands behind the message, or in the headers when there is none. */
function assertOk(head: Headers, tail: Headers): void {
  const status = tail['grpc-status'];
  if (status === '0') return;
  if (head[':status'] !== 200) throw new ConnectError(`HTTP status ${head[':status'] ?? 'missing'}`, Code.Unavailable);
  if (typeof status !== 'string') throw new ConnectError('the answer ended without a status', Code.Unavailable);
  const message = tail['grpc-message'];
  throw new ConnectError(typeof message === 'string' ? decodePercent(message) : '', Number(status));
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lost(error: unknown): ConnectError {
  const lost = ConnectError.from(error, Code.Unavailable);
  if (lost !== error) lost.cause = error;
  return lost;
}
