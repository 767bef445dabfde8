import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as netConnect, isIP, type Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/thrown.ts';
import { type ConnectOptions, hostOf, parseServer } from './connect-options.ts';
import { closedError, transportErrorOf } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/** As for a connection without a proxy. */
const OPENING_MS = 10_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
};

/** Whether `proxy-url` names a proxy of a kind that is known: `http`, `https`, `socks5`. */
export function isProxyUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol in DEFAULT_PORTS && new URL(text).hostname !== '';
}

export interface TunnelOptions extends ConnectOptions {
  /** Limits how long a proxy may take. */
  readonly clock?: Clock;
}

/** Connections to one server through its proxy, where it has one (`proxy-url`; CONNECT of HTTP, or SOCKS 5). */
export class ProxyTunnels {
  readonly #options: TunnelOptions;
  readonly #opening = new Set<AbortController>();
  #closed = false;

  constructor(options: TunnelOptions) {
    this.#options = options;
  }

  /** A socket whose other end is the server; undefined when it is reached without a proxy. Rejects with a TransportError. */
  open(): Promise<Socket> | undefined {
    const { proxyUrl } = this.#options;
    if (proxyUrl === undefined) return undefined;
    return this.#closed ? Promise.reject(closedError()) : this.#open(new URL(proxyUrl));
  }

  /** What is being opened rejects, and what is asked for later. */
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
      return await (proxy.protocol.startsWith('socks') ? throughSocks(tunnel) : throughHttp(tunnel));
    } catch (error) {
      throw signal.aborted ? signal.reason : proxyFailure(proxy, error);
    } finally {
      late?.cancel();
      this.#opening.delete(opening);
    }
  }
}

interface Tunnel {
  readonly proxy: URL;
  readonly target: URL;
  readonly signal: AbortSignal;
}

async function throughHttp({ proxy, target, signal }: Tunnel): Promise<Socket> {
  const path = `${target.hostname}:${portOf(target)}`;
  const login = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`);
  const host = hostOf(proxy);
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host,
    port: portOf(proxy),
    // Node would take it from the `host` header, which names the target.
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

async function throughSocks({ proxy, target, signal }: Tunnel): Promise<Socket> {
  const { SocksClient } = await import('socks');
  const socket = netConnect({ host: hostOf(proxy), port: portOf(proxy), signal });
  keepQuiet(socket);
  await once(socket, 'connect');
  const destination = { host: hostOf(target), port: portOf(target) };
  const login = { userId: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) };
  try {
    await SocksClient.createConnection({
      command: 'connect',
      proxy: {
        type: 5,
        host: hostOf(proxy),
        port: portOf(proxy),
        ...(login.userId === '' ? {} : login),
      },
      destination,
      existing_socket: socket,
    });
    return socket;
  } catch (error) {
    socket.destroy();
    throw refusal(proxy, `${target.hostname}:${destination.port}`, messageOf(error));
  }
}

/** Who holds the socket after this looks for errors itself; between two listeners nobody does. */
function keepQuiet(socket: Socket): void {
  socket.on('error', () => undefined);
}

function refusal(proxy: URL, target: string, why: string): TransportError {
  return new TransportError('refused', `the proxy ${proxy.host} does not connect to ${target}: ${why}`);
}

/** What went wrong with the proxy's own TLS says nothing about the server's certificate. */
function proxyFailure(proxy: URL, error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const { code, message } = transportErrorOf(error);
  const text = `the proxy ${proxy.protocol}//${proxy.host}: ${message}`;
  return new TransportError(code === 'tls' ? 'protocol' : code, text, { cause: error });
}

function portOf(url: URL): number {
  return Number(url.port || (DEFAULT_PORTS[url.protocol] ?? 443));
}
