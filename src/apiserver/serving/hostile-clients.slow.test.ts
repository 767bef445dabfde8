import { connect, type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpHandler } from '../../base/http-message.ts';
import { systemRandom } from '../../base/random/random.ts';
import { createServingCertificates, type ServingCertificates } from '../authentication/certificates.ts';
import { MAX_CONNECTION_BODIES_BYTES } from './body-budget.ts';
import { type HttpServer, serve } from './http-server.ts';

let certificates: ServingCertificates;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(handler: HttpHandler, clock = systemClock): Promise<HttpServer> {
  const tls = { keyPem: certificates.keyPem, certPem: certificates.certPem };
  const server = await serve({ handler, host: '127.0.0.1', port: 0, tls, clock });
  cleanups.push(() => server.close());
  return server;
}

function open({ url }: HttpServer): ClientHttp2Session {
  const session = connect(url, { ca: certificates.caPem, maxSessionMemory: 1000 });
  session.on('error', () => undefined);
  cleanups.push(() => session.destroy());
  return session;
}

interface Ended {
  readonly status: number;
  /** The error code of the RST_STREAM; 0 is NO_ERROR. */
  readonly code: number | undefined;
}

function ended(stream: ClientHttp2Stream): Promise<Ended> {
  let status = 0;
  stream.on('response', (headers) => (status = Number(headers[':status'])));
  stream.on('error', () => undefined).resume();
  return new Promise((resolve) => stream.on('close', () => resolve({ status, code: stream.rstCode })));
}

const answer = (status: number) => ({ status, headers: {}, body: Buffer.from(String(status)) });
const refuses: HttpHandler = () => Promise.resolve(answer(401));
const post = (session: ClientHttp2Session): ClientHttp2Stream =>
  session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });

/** The status of a GET on a new connection. */
async function lives(server: HttpServer): Promise<number> {
  return (await ended(open(server).request({ ':path': '/' }))).status;
}

describe('a client without rights', () => {
  it('is answered and stopped before its body is read, however many bodies it begins and never ends', async () => {
    const server = await start(refuses);
    const sessions = Array.from({ length: 3 }, () => open(server));
    const streams = sessions.flatMap((session) => Array.from({ length: 100 }, () => post(session)));
    const ends = streams.map(ended);
    for (const stream of streams) stream.write(Buffer.alloc(64 * 1024));
    const answers = await Promise.all(ends);
    expect(new Set(answers.map(({ status, code }) => `${status} ${code}`))).toEqual(new Set(['401 0']));
  });

  it('over HTTP/1.1 keeps its connection after a small body, and loses it with a large one', async () => {
    const server = await start(refuses);
    const head = (bytes: number): string => `POST / HTTP/1.1\r\nhost: here\r\ncontent-length: ${bytes}\r\n\r\n`;
    const answered = async (text: string): Promise<string> => {
      const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: certificates.caPem });
      cleanups.push(() => socket.destroy());
      socket.write(text);
      return await new Promise((resolve) => void socket.once('data', (data: Buffer) => resolve(data.toString())));
    };
    expect(await answered(`${head(5)}hello`)).not.toMatch(/connection: close/i);
    expect(await answered(head(3_000_000))).toMatch(/connection: close/i);
  });
});

describe('a client that may write', () => {
  const loads: HttpHandler = async (request) => {
    const outcome = await request.load?.();
    return answer(outcome === 'refused' ? 429 : 200);
  };

  it('is refused more bodies under way than its connection may hold, and others are not', async () => {
    const server = await start(loads);
    const session = open(server);
    const each = 3 * 1024 * 1024;
    const many = Math.floor(MAX_CONNECTION_BODIES_BYTES / each) + 1;
    const streams = Array.from({ length: many }, () => post(session));
    const first = Promise.race(streams.map(ended));
    for (const stream of streams) stream.write(Buffer.alloc(each));
    expect((await first).status).toBe(429);
    const other = post(open(server));
    other.end('small');
    expect((await ended(other)).status).toBe(200);
  });

  it('is cut when it stops sending in the middle of a body', async () => {
    const clock = new FakeClock();
    let asked = (): void => undefined;
    const reading = new Promise<void>((resolve) => (asked = resolve));
    const server = await start((request) => {
      const answered = loads(request);
      asked();
      return answered;
    }, clock);
    const stream = post(open(server));
    const end = ended(stream);
    stream.write('some');
    await reading;
    clock.advance(10_000);
    expect((await end).code).toBe(constants.NGHTTP2_CANCEL);
  });
});

describe('a client that abuses HTTP/2', () => {
  const ok: HttpHandler = () => Promise.resolve(answer(200));

  /** Sends raw frames. Resolves when the server has sent GOAWAY or closed the connection. */
  async function speak(server: HttpServer, next: (turn: number) => Buffer): Promise<void> {
    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: certificates.caPem, ALPNProtocols: ['h2'] });
    cleanups.push(() => socket.destroy());
    const seen = { over: false };
    socket.on('close', () => (seen.over = true)).on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      for (let at = 0; at + 9 <= data.length; at += 9 + data.readUIntBE(at, 3)) seen.over ||= data[at + 3] === GOAWAY;
    });
    await new Promise<void>((resolve) => void socket.once('secureConnect', resolve));
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0)]));
    for (let turn = 0; turn < MAX_TURNS && !seen.over; turn++) {
      await new Promise<void>((resolve) => void socket.write(next(turn), () => resolve()));
      // Waits until the server, which runs on the same event loop, has read the frames.
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    expect(seen.over).toBe(true);
  }

  it('by opening and resetting streams in haste is answered no more, and others are served', async () => {
    const server = await start(ok);
    // :method GET, :scheme https, :path /, of the static table; :authority h.
    const head = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x68]);
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
    await speak(server, (turn) => {
      const stream = 2 * turn + 1;
      return Buffer.concat([
        frame(HEADERS, END_STREAM | END_HEADERS, stream, head),
        frame(RST_STREAM, 0, stream, cancel),
      ]);
    });
    expect(await lives(server)).toBe(200);
  });

  it.each([
    ['headers that never end', 16_000],
    ['empty CONTINUATION frames', 0],
  ])('with %s loses its connection, and others are served', async (_what, bytes) => {
    const server = await start(ok);
    const piece = Buffer.alloc(bytes, 0x40);
    await speak(server, (turn) => (turn === 0 ? frame(HEADERS, 0, 1) : frame(CONTINUATION, 0, 1, piece)));
    expect(await lives(server)).toBe(200);
  });
});

/** Maximum number of frames that a hostile client sends; a server that takes them all fails the test. */
const MAX_TURNS = 20_000;
const [HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION] = [1, 3, 4, 7, 9] as const;
const [END_STREAM, END_HEADERS] = [1, 4] as const;

/** A frame of HTTP/2 (RFC 9113, 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
