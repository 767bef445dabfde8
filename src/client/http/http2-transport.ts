import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { orAborted } from '../../base/time/abort.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { Greeting, HttpHeaders, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { parseServer } from './connect-options.ts';
import { credentialHeaders } from './credential-headers.ts';
import type { Http2Session } from './http2-session.ts';
import { type Http2Options, Http2Sessions } from './http2-sessions.ts';
import { abortedTransportError, closedError, transportErrorOf } from './transport-failure.ts';
import { type Transport, TransportError } from './transport.ts';

/** Answers below this announced size are read at once, which is cheaper than a stream. */
const SMALL_BODY = 256 * 1024;

/** Sends all requests over as few HTTP/2 sessions as the server allows. They are opened on demand and replaced when they end. */
export function http2Transport(options: Http2Options): Transport {
  return new Http2Transport(options);
}

class Http2Transport implements Transport {
  readonly #options: Http2Options;
  readonly #prefix: string;
  readonly #sessions: Http2Sessions;

  constructor(options: Http2Options) {
    this.#options = options;
    this.#prefix = parseServer(options.server).prefix;
    this.#sessions = new Http2Sessions(options);
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    const headers = await credentialHeaders(credentials, request.signal);
    if (request.signal?.aborted === true) throw abortedTransportError(request.signal);
    try {
      const session = await this.#sessions.enter(request.signal);
      if (request.greeting !== undefined) {
        try {
          await orAborted(this.#greet(session, request.greeting, headers), request.signal, abortedTransportError);
        } catch (error) {
          session.leave();
          throw error;
        }
      }
      const response = await exchange(session, this.#prefix, { request, credentials: headers });
      if (response.status === 401 && headers !== undefined) credentials?.rejected?.(headers);
      return response;
    } catch (error) {
      throw this.#sessions.closed ? closedError(error) : transportErrorOf(error, request.signal);
    }
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  /** Waiting requests share the verification, so it ends with the session, or after its own timeout. */
  #greet(session: Http2Session, greeting: Greeting, credentials: HttpHeaders | undefined): Promise<void> {
    return session.greeted(greeting, () =>
      greeting.greet(async (request) => {
        session.enter();
        const response = await exchange(session, this.#prefix, { request, credentials });
        if (response.status === 401 && credentials !== undefined) this.#options.credentials?.rejected?.(credentials);
        return response;
      }),
    );
  }
}

/** Exchanges a request on a session that it has entered. */
function exchange(
  session: Http2Session,
  prefix: string,
  message: { readonly request: HttpRequest; readonly credentials: HttpHeaders | undefined },
): Promise<HttpResponse> {
  const { request } = message;
  const { body, signal, refusal } = request;
  const hasBody = body !== undefined && body.length > 0;
  // The signal was aborted while the session was opened, so its event has passed.
  const refused = signal?.aborted === true ? abortedTransportError(signal) : refusal?.();
  if (refused !== undefined) {
    session.leave();
    return Promise.reject(refused);
  }
  return new Promise((resolve, reject) => {
    // Unless `endStream` is false, Node ends the stream at once for GET, HEAD and DELETE, and the body would be lost.
    const stream = session.begin(outgoingHeaders(prefix, message), { endStream: !hasBody });
    const onAbort = (): void => {
      stream.close(constants.NGHTTP2_CANCEL);
      // On a dead connection the stream would wait until its reset was sent.
      stream.destroy();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    let answered = false;
    const letGo = (): void => signal?.removeEventListener('abort', onAbort);
    stream.on('error', reject);
    stream.on('close', () => {
      if (answered) return;
      letGo();
      reject(
        signal?.aborted === true
          ? abortedTransportError(signal)
          : (session.gone ?? new TransportError('reset', 'the stream ended without an answer')),
      );
    });
    stream.on('response', (headers) => {
      session.heard();
      const head = { status: headers[':status'] ?? 0, headers: incomingHeaders(headers) };
      const length = Number(headers['content-length'] ?? Number.NaN);
      if (length <= SMALL_BODY) {
        // Until the last byte, the exchange counts as unanswered, so an earlier end rejects above.
        readAll(stream, length, (bytes) => {
          answered = true;
          session.heard();
          letGo();
          resolve({ ...head, body: bytes });
        });
      } else {
        answered = true;
        resolve({ ...head, body: readStream(stream, { session, signal, letGo }) });
      }
    });
    if (hasBody) stream.end(body);
  });
}

/** Calls back with a complete body, and never with an incomplete one, because Node also ends cancelled streams. */
function readAll(stream: ClientHttp2Stream, length: number, done: (bytes: Uint8Array) => void): void {
  const chunks: Buffer[] = [];
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    chunks.push(chunk);
  });
  stream.on('end', () => {
    if (received !== length || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
    done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received));
  });
}

async function* readStream(
  stream: ClientHttp2Stream,
  { session, signal, letGo }: { session: Http2Session; signal: AbortNotice | undefined; letGo: () => void },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) {
      session.heard();
      yield chunk as Uint8Array;
    }
    // Node ends the iteration without an error if a stream is cancelled or its session dies; only END_STREAM proves the real end.
    if (!stream.readableEnded || stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
      throw session.gone ?? new TransportError('reset', `stream reset with code ${stream.rstCode}`);
    }
  } catch (error) {
    throw signal?.aborted === true ? abortedTransportError(signal) : transportErrorOf(error);
  } finally {
    letGo();
    // A stream that both sides have ended closes by itself. A reset would count against the client, because servers drop sessions with many
    // resets (CVE-2023-44487).
    if (!stream.closed && !(stream.readableEnded && stream.writableFinished)) stream.close(constants.NGHTTP2_CANCEL);
  }
}

function outgoingHeaders(
  prefix: string,
  { request, credentials }: { readonly request: HttpRequest; readonly credentials: HttpHeaders | undefined },
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':method': request.method, ':path': prefix + request.target };
  for (const source of [credentials, request.headers]) {
    for (const name in source) {
      const value = source[name]!;
      headers[name] = typeof value === 'string' ? value : [...value];
    }
  }
  const length = request.body?.length ?? 0;
  if (length > 0) headers['content-length'] = length;
  return headers;
}

function incomingHeaders(headers: IncomingHttpHeaders): HttpHeaders {
  const out: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value: unknown = headers[name];
    if (name.startsWith(':') || value === undefined) continue;
    out[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return out;
}
