import type { TLSSocket } from 'node:tls';
import { orAborted } from '../../base/time/abort.ts';
import { opening, openTlsSocket } from './connection-opening.ts';
import { parseServer } from './connect-options.ts';
import { credentialCertificate } from './credential-headers.ts';
import { http1Transport } from './http1-transport.ts';
import type { Http2Options } from './http2-sessions.ts';
import { http2Transport } from './http2-transport.ts';
import { ProxyTunnels } from './proxy-tunnel.ts';
import { abortedTransportError, closedError } from './transport-failure.ts';
import type { Transport } from './transport.ts';
import { isWatch } from './watch-request.ts';

export interface TransportOptions extends Http2Options {
  /**
   * `http1` and `http2` use only that protocol. With `auto`, watches share HTTP/2 sessions if the server offers them, so that they do not
   * hold a connection each; all other requests use HTTP/1.1, where Node spends half the CPU.
   */
  readonly protocol?: 'auto' | 'http1' | 'http2';
}

/** A transport to a server over the network. It connects with the first request. */
export function connect(options: TransportOptions): Transport {
  const { protocol = 'auto' } = options;
  if (protocol === 'http2') return http2Transport(options);
  if (protocol === 'http1' || !parseServer(options.server).secure) return http1Transport(options);
  const http1 = http1Transport(options);
  let streaming: Promise<Transport> | undefined;
  const negotiation = new Negotiation(options);
  const forStreams = async (): Promise<Transport> => {
    streaming ??= negotiation.chosen().then((chosen) => (chosen === 'h2' ? http2Transport(options) : http1));
    try {
      return await streaming;
    } catch (error) {
      // The next watch negotiates again, because the server may have been unreachable.
      streaming = undefined;
      throw error;
    }
  };
  return {
    send: (request) =>
      isWatch(request)
        ? orAborted(forStreams(), request.signal, abortedTransportError).then((http2) => http2.send(request))
        : http1.send(request),
    close: async () => {
      negotiation.stop();
      const other = await streaming?.catch(() => undefined);
      await Promise.all([http1.close(), other?.close()]);
    },
  };
}

/** Determines the server's protocol by a TLS handshake (ALPN). */
class Negotiation {
  readonly #options: TransportOptions;
  readonly #tunnels: ProxyTunnels;
  readonly #stopping = new AbortController();
  #socket: TLSSocket | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#tunnels = new ProxyTunnels(options);
  }

  async chosen(): Promise<'h2' | 'http/1.1'> {
    const { credentials, clock } = this.#options;
    const { signal } = this.#stopping;
    const certificate = await credentialCertificate(credentials, signal);
    const opened = this.#tunnels.open();
    const tunnel = opened === undefined ? undefined : await opened;
    if (signal.aborted) {
      tunnel?.destroy();
      throw closedError();
    }
    const socket = openTlsSocket(this.#options, { certificate, protocols: ['h2', 'http/1.1'], tunnel });
    this.#socket = socket;
    try {
      await opening(socket, 'secureConnect', clock);
      return socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1';
    } finally {
      socket.destroy();
    }
  }

  /** Rejects requests in progress. */
  stop(): void {
    this.#stopping.abort();
    this.#tunnels.close();
    this.#socket?.destroy();
  }
}
