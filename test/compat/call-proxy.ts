import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;

/** Splits what a client of HTTP/2 sends into frames, and says which of them begin a request. */
class ClientFrames {
  #pending = Buffer.alloc(0);
  #preface = true;

  /** Whole pieces in order; what is not whole waits. */
  take(bytes: Buffer): { readonly bytes: Buffer; readonly request: boolean }[] {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    const pieces: { bytes: Buffer; request: boolean }[] = [];
    for (;;) {
      const size = this.#preface ? PREFACE_BYTES : this.#frameBytes();
      if (size === undefined || this.#pending.length < size) return pieces;
      const piece = this.#pending.subarray(0, size);
      pieces.push({ bytes: piece, request: !this.#preface && piece[3] === HEADERS });
      this.#pending = this.#pending.subarray(size);
      this.#preface = false;
    }
  }

  #frameBytes(): number | undefined {
    return this.#pending.length < FRAME_HEADER_BYTES ? undefined : FRAME_HEADER_BYTES + this.#pending.readUIntBE(0, 3);
  }
}

/** A socket in front of a runtime's that counts calls, and does something at one of them. */
export class CallProxy {
  calls = 0;
  /** Called with the number of each call, from 1: `before` it is passed on and `after`. A `false` before keeps it back for good. */
  onCall: (number: number, when: 'before' | 'after') => boolean | void = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string) {
    this.#server = createServer((client) => {
      const runtime = connect(target);
      const frames = new ClientFrames();
      let cut = false;
      for (const socket of [client, runtime]) {
        this.#sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            client.destroy();
            runtime.destroy();
            this.#sockets.delete(socket);
          });
      }
      client.on('data', (bytes: Buffer) => {
        for (const piece of frames.take(bytes)) {
          if (cut) return;
          const number = piece.request ? ++this.calls : 0;
          if (number > 0 && this.onCall(number, 'before') === false) cut = true;
          else runtime.write(piece.bytes);
          // The body of the request follows its headers: it is complete once it is passed on as well.
          if (number > 0 && !cut) setImmediate(() => void this.onCall(number, 'after'));
        }
      });
      runtime.on('data', (bytes: Buffer) => client.write(bytes));
    });
  }

  static async start(path: string, target: string): Promise<CallProxy> {
    const proxy = new CallProxy(target);
    proxy.#server.listen(path);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  async close(): Promise<void> {
    for (const each of this.#sockets) each.destroy();
    await new Promise((settle) => this.#server.close(settle));
  }
}
