import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Clock } from '../../base/time/clock.ts';
import { type ConnectOptions, hostOf, parseServer } from './connect-options.ts';
import { closedError, transportErrorOf } from './transport-failure.ts';
import { TransportError } from './transport.ts';
import { keepQuiet, portOf, refusal, type Tunnel } from './tunnel.ts';

/** The same timeout as for a connection without a proxy. */
const OPENING_MS = 10_000;
export interface TunnelOptions extends ConnectOptions {
  /** The clock for the timeout. */
  readonly clock?: Clock;
}

/** Connections to one server through its proxy, if it has one (`proxy-url`; HTTP CONNECT or SOCKS 5). */
export class ProxyTunnels {
  readonly #options: TunnelOptions;
  readonly #opening = new Set<AbortController>();
  #closed = false;

  constructor(options: TunnelOptions) {
    this.#options = options;
  }

  /** A socket to the server; undefined if there is no proxy. Rejects with a TransportError. */
  open(): Promise<Socket> | undefined {
    const { proxyUrl } = this.#options;
    if (proxyUrl === undefined) return undefined;
    return this.#closed ? Promise.reject(closedError()) : this.#open(new URL(proxyUrl));
  }

  /** Rejects tunnels in progress and later ones. */
  close(): void {
    this.#closed = true;
    for (const opening of this.#opening) opening.abort(closedError());
  }

  async #open(proxy: URL): Promise<Socket> {
    const { server, clock } = this.#options;
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening.add(opening);
    const late = clock?.setTimer(OPENING_MS, () => {
      const limit = `within ${OPENING_MS / 1000} s`;
      opening.abort(new TransportError('timeout', `the proxy ${proxy.host} did not open the connection ${limit}`));
    });
    const tunnel = { proxy, target: parseServer(server).url, signal };
    try {
      if (!proxy.protocol.startsWith('socks')) return await throughHttp(tunnel);
      const { throughSocks } = await import('./socks-tunnel.ts');
      return await throughSocks(tunnel);
    } catch (error) {
      throw signal.aborted ? signal.reason : proxyFailure(proxy, error);
    } finally {
      late?.cancel();
      this.#opening.delete(opening);
    }
  }
}

async function throughHttp({ proxy, target, signal }: Tunnel): Promise<Socket> {
  const path = `${target.hostname}:${portOf(target)}`;
  const login = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`);
  const host = hostOf(proxy);
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host,
    port: portOf(proxy),
    // Otherwise Node would use the `host` header, which names the target.
    servername: isIP(host) === 0 ? host : '',
    path,
    headers: {
      host: path,
      ...(proxy.username === '' ? {} : { 'proxy-authorization': `Basic ${login.toString('base64')}` }),
    },
    agent: false,
    signal,
  });
  request.end();
  const [answer, socket, rest] = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer];
  keepQuiet(socket);
  if (rest.length > 0) socket.unshift(rest);
  const { httpVersion, statusCode = 0, statusMessage = '' } = answer;
  if (statusCode >= 200 && statusCode < 300) return socket;
  socket.destroy();
  throw refusal(proxy, path, `HTTP/${httpVersion} ${statusCode} ${statusMessage}`);
}

/** A TLS failure of the proxy says nothing about the server's certificate. */
function proxyFailure(proxy: URL, error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const { code, message } = transportErrorOf(error);
  const text = `the proxy ${proxy.protocol}//${proxy.host}: ${message}`;
  return new TransportError(code === 'tls' ? 'protocol' : code, text, { cause: error });
}
