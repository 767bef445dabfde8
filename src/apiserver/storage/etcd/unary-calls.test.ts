import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { Http2SessionManager } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { KV, type RangeResponse, RangeResponseSchema } from './rpc.generated.ts';
import { UnaryCalls } from './unary-calls.ts';

/** A server that answers every call in one way, however wrong. */
class Answers {
  readonly #server: Http2Server;
  readonly requests: { path: string; timeout: string; body: Buffer }[] = [];
  respond: (stream: ServerHttp2Stream) => void = () => undefined;

  constructor() {
    this.#server = createServer();
    this.#server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { ':path': path = '', 'grpc-timeout': timeout } = headers;
        this.requests.push({ path, timeout: String(timeout), body: Buffer.concat(chunks) });
        this.respond(stream);
      });
    });
  }

  listen(): Promise<string> {
    return new Promise((settle) => {
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        settle(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
      });
    });
  }

  close(): void {
    this.#server.close();
  }
}

const message = toBinary(RangeResponseSchema, create(RangeResponseSchema, { count: 7n }));
const frame = Buffer.concat([Buffer.of(0, 0, 0, 0, message.length), message]);

function answer(body: Uint8Array, trailers: Record<string, string>, headers: Record<string, string | number> = {}) {
  return (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200, ...headers }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(body);
  };
}

describe('calls with one message each way', () => {
  let server: Answers;
  let session: Http2SessionManager;
  let call: (timeoutMs?: number) => Promise<RangeResponse>;
  beforeEach(async () => {
    server = new Answers();
    session = new Http2SessionManager(await server.listen());
    const calls = new UnaryCalls({ session, clock: systemClock, readLimitBytes: 1_000 });
    call = (timeoutMs = 5_000) =>
      calls.call(KV.method.range, { key: Buffer.from('k') }, { timeoutMs, headers: { token: 't' } });
  });
  afterEach(() => {
    session.abort();
    server.close();
  });

  it('send a frame with a path and a deadline, and read the message that comes back', async () => {
    server.respond = answer(frame, { 'grpc-status': '0' });
    expect((await call()).count).toBe(7n);
    expect(server.requests).toEqual([
      { path: '/etcdserverpb.KV/Range', timeout: '5000m', body: Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x6b]) },
    ]);
  });

  it('read a message that comes in pieces', async () => {
    server.respond = (stream) => {
      answer(frame.subarray(3), { 'grpc-status': '0' })(stream);
    };
    await expect(call()).rejects.toThrow('the answer is not one gRPC message');
    server.respond = (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.write(frame.subarray(0, 3));
      setImmediate(() => stream.end(frame.subarray(3)));
    };
    expect((await call()).count).toBe(7n);
  });

  it.each<[string, (stream: ServerHttp2Stream) => void, Code, string]>([
    [
      'an error behind the headers',
      answer(Buffer.alloc(0), { 'grpc-status': '11', 'grpc-message': 'etcdserver: 100%25 compacted' }),
      Code.OutOfRange,
      'etcdserver: 100% compacted',
    ],
    [
      'an error in the headers',
      (stream) => stream.respond({ ':status': 200, 'grpc-status': '14', 'grpc-message': 'no%' }, { endStream: true }),
      Code.Unavailable,
      'no%',
    ],
    [
      'a page of a proxy',
      (stream) => stream.respond({ ':status': 502 }, { endStream: true }),
      Code.Unavailable,
      'HTTP status 502',
    ],
    ['no status', answer(frame, {}), Code.Unavailable, 'the answer ended without a status'],
    ['no message', answer(Buffer.alloc(0), { 'grpc-status': '0' }), Code.Internal, 'not one gRPC message'],
    [
      'two messages',
      answer(Buffer.concat([frame, frame]), { 'grpc-status': '0' }),
      Code.Internal,
      'not one gRPC message',
    ],
    [
      'a compressed message',
      answer(Buffer.concat([Buffer.of(1), frame.subarray(1)]), { 'grpc-status': '0' }),
      Code.Internal,
      'not one gRPC message',
    ],
    [
      'too long a message',
      answer(Buffer.alloc(2_000), { 'grpc-status': '0' }),
      Code.FailedPrecondition,
      'larger than 1000',
    ],
    ['an end in the middle', (stream) => stream.close(2), Code.Unavailable, ''],
    ['a lost connection', (stream) => stream.session?.destroy(), Code.Unavailable, ''],
  ])('%s is an error', async (_, respond, code, says) => {
    server.respond = respond;
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error instanceof ConnectError && error.rawMessage).toContain(says);
    expect(error).toMatchObject({ code });
    // The next one is not the worse for it.
    server.respond = answer(frame, { 'grpc-status': '0' });
    expect((await call()).count).toBe(7n);
  });

  it('no answer at all is over when its time is', async () => {
    await expect(call(20)).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  });

  it('nobody listens', async () => {
    server.close();
    session.abort();
    await expect(call()).rejects.toMatchObject({ code: Code.Unavailable });
  });
});
