import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Code } from '@connectrpc/connect';

/** One call to the runtime, whose request is complete. */
export interface Call {
  /** From 1, in the order in which requests were complete. */
  readonly number: number;
  /** Service and method: `ImageService/RemoveImage`. */
  readonly name: string;
  /** The request as it is on the wire; texts in it, such as an id, are readable. */
  readonly request: Buffer;
}

/** Either the runtime gets the call, or this error is its answer. */
export type Verdict = 'pass' | { readonly code: Code; readonly message: string };

type AnswerHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

/**
 * A socket in front of a runtime's that knows each call by its name. A call waits until {@link onCall} has decided on it; if that never
 * happens, the call hangs. A client that disappears takes its connection to the runtime with it.
 */
export class CallProxy {
  calls = 0;
  onCall: (call: Call) => Verdict | Promise<Verdict> = () => 'pass';
  /** Called when the runtime has the call, and works on it. */
  onPassed: (call: Call) => void = () => undefined;
  readonly #server: Http2Server;
  readonly #target: string;
  readonly #sessions = new Set<ServerHttp2Session>();

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer();
    this.#server.on('session', (client) => this.#lead(client));
  }

  static async start(path: string, target: string): Promise<CallProxy> {
    const proxy = new CallProxy(target);
    proxy.#server.listen(path);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  async close(): Promise<void> {
    for (const each of this.#sessions) each.destroy();
    await new Promise((settle) => this.#server.close(settle));
  }

  #lead(client: ServerHttp2Session): void {
    const runtime = connect('http://localhost', { createConnection: () => connectSocket(this.#target) });
    this.#sessions.add(client);
    client
      .on('error', () => undefined)
      .on('close', () => {
        this.#sessions.delete(client);
        runtime.destroy();
      });
    runtime.on('error', () => undefined).on('close', () => client.destroy());
    client.on('stream', (stream, headers) => void this.#take(stream, headers, runtime));
  }

  async #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, runtime: ClientHttp2Session): Promise<void> {
    stream.on('error', () => undefined);
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => void parts.push(part));
    await new Promise((settle) => stream.once('end', settle));
    const name = String(headers[constants.HTTP2_HEADER_PATH]).split('.').at(-1)!;
    const call: Call = { number: ++this.calls, name, request: Buffer.concat(parts) };
    const verdict = await this.onCall(call);
    // The client may have given up, or have been killed.
    if (stream.closed || runtime.destroyed) return;
    if (verdict === 'pass') this.#pass(call, stream, headers, runtime);
    else {
      const status = { 'grpc-status': String(verdict.code), 'grpc-message': encodeURIComponent(verdict.message) };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
    }
  }

  #pass(call: Call, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, runtime: ClientHttp2Session): void {
    const upstream = runtime.request(headers);
    let trailers: IncomingHttpHeaders = {};
    upstream
      .on('error', () => undefined)
      .on('trailers', (last: IncomingHttpHeaders) => (trailers = last))
      .on('close', () => {
        if (upstream.rstCode !== constants.NGHTTP2_NO_ERROR) stream.close(upstream.rstCode);
      })
      .on('response', (answer: AnswerHeaders, flags: number) => {
        if (stream.closed) return;
        const whole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        stream.respond(answer, whole ? { endStream: true } : { waitForTrailers: true });
        if (!whole) upstream.pipe(stream);
      });
    stream
      .on('wantTrailers', () => stream.sendTrailers(trailers))
      .on('close', () => upstream.close(constants.NGHTTP2_CANCEL));
    upstream.end(call.request, () => setImmediate(() => this.onPassed(call)));
  }
}
