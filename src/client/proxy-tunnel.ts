import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { type ConnectOptions, hostOf, parseServer } from './connect-options.ts';
import { transportErrorOf } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/** As for a connection without a proxy. */
const OPENING_MS = 10_000;
/** Of what a proxy may say before the server does. */
const MAX_ANSWER_BYTES = 16 * 1024;
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

/** Connections to one server through its proxy, where it has one (`proxy-url`; RFC 9110 CONNECT, RFC 1928, RFC 1929). */
export class ProxyTunnels {
  readonly #options: TunnelOptions;
  readonly #opening = new Set<Socket>();

  constructor(options: TunnelOptions) {
    this.#options = options;
  }

  /** A socket whose other end is the server; undefined when it is reached without a proxy. Rejects with a TransportError. */
  open(): Promise<Socket> | undefined {
    const { proxyUrl } = this.#options;
    return proxyUrl === undefined ? undefined : this.#open(new URL(proxyUrl));
  }

  /** What is being opened rejects. */
  close(): void {
    for (const socket of this.#opening) socket.destroy();
  }

  async #open(proxy: URL): Promise<Socket> {
    const socket = openProxy(proxy);
    this.#opening.add(socket);
    const { server, clock } = this.#options;
    const late = clock?.setTimer(OPENING_MS, () => {
      const limit = `within ${OPENING_MS / 1000} s`;
      socket.destroy(new TransportError('timeout', `the proxy ${proxy.host} did not open the connection ${limit}`));
    });
    try {
      await establish(socket, proxy, parseServer(server).url);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      late?.cancel();
      this.#opening.delete(socket);
    }
  }
}

function openProxy(proxy: URL): Socket {
  const address = { host: hostOf(proxy), port: portOf(proxy) };
  const socket =
    proxy.protocol === 'https:' ? tlsConnect({ ...address, servername: hostOf(proxy) }) : netConnect(address);
  // Who holds the socket after this looks for errors itself; between two listeners nobody does.
  socket.on('error', () => undefined);
  return socket;
}

async function establish(socket: Socket, proxy: URL, server: URL): Promise<void> {
  const failed = new Promise<never>((_, reject) => {
    const where = `the proxy ${proxy.protocol}//${proxy.host}`;
    socket.once('error', (error) => {
      if (error instanceof TransportError) return reject(error);
      const { code, message } = transportErrorOf(error);
      reject(new TransportError(code === 'tls' ? 'protocol' : code, `${where}: ${message}`, { cause: error }));
    });
    socket.once('close', () => reject(new TransportError('reset', `${where} closed the connection`)));
  });
  const agreed = proxy.protocol.startsWith('socks') ? askSocks(socket, proxy, server) : askHttp(socket, proxy, server);
  await Promise.race([agreed, failed]);
}

async function askHttp(socket: Socket, proxy: URL, server: URL): Promise<void> {
  const { username, password } = proxy;
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const authorization = username === '' ? '' : `Proxy-Authorization: Basic ${pair}\r\n`;
  const target = `${server.hostname}:${portOf(server)}`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  const head = await read(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end < 0 ? undefined : end + 4;
  });
  const [line = ''] = head.toString('latin1').split('\r\n');
  if (/^HTTP\/1\.\d 2\d\d\b/.test(line)) return;
  throw new TransportError('refused', `the proxy ${proxy.host} does not connect to ${target}: ${line}`);
}

const NO_LOGIN = 0;
const PASSWORD = 2;

async function askSocks(socket: Socket, proxy: URL, server: URL): Promise<void> {
  const name = Buffer.from(decodeURIComponent(proxy.username));
  const password = Buffer.from(decodeURIComponent(proxy.password));
  const methods = name.length === 0 ? [NO_LOGIN] : [NO_LOGIN, PASSWORD];
  const refused = (why: string): TransportError => {
    const target = `${server.hostname}:${portOf(server)}`;
    return new TransportError('refused', `the proxy ${proxy.host} does not connect to ${target}: ${why}`);
  };
  socket.write(Buffer.from([5, methods.length, ...methods]));
  const [version, method] = await read(socket, () => 2);
  if (version !== 5) throw refused('it does not speak SOCKS 5');
  if (method === PASSWORD && name.length > 0) {
    socket.write(Buffer.from([1, name.length, ...name, password.length, ...password]));
    const [, outcome] = await read(socket, () => 2);
    if (outcome !== 0) throw refused('name and password are wrong');
  } else if (method !== NO_LOGIN) throw refused('it wants another login');
  const host = Buffer.from(hostOf(server));
  const port = portOf(server);
  socket.write(Buffer.from([5, 1, 0, 3, host.length, ...host, port >> 8, port & 0xff]));
  const answer = await read(socket, socksAnswerLength);
  if (answer[1] !== 0) throw refused(`SOCKS answered ${answer[1]}`);
}

/** Four bytes, an address, a port: the address is four bytes, sixteen, or as long as it says. */
function socksAnswerLength(bytes: Buffer): number | undefined {
  if (bytes.length < 5) return undefined;
  return 6 + (bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : 1 + (bytes[4] ?? 0));
}

/** The first bytes, as many as `length` says once it can tell; what comes after them stays in the socket. */
async function read(socket: Socket, length: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const wanted = length(bytes);
    if (wanted !== undefined && bytes.length >= wanted) {
      if (bytes.length > wanted) socket.unshift(bytes.subarray(wanted));
      return bytes.subarray(0, wanted);
    }
    if (bytes.length > MAX_ANSWER_BYTES) throw new TransportError('protocol', 'the proxy does not come to an end');
    const chunk = socket.read() as Buffer | null;
    if (chunk !== null) bytes = Buffer.concat([bytes, chunk]);
    else await new Promise<void>((readable) => void socket.once('readable', readable));
  }
}

function portOf(url: URL): number {
  return Number(url.port || (DEFAULT_PORTS[url.protocol] ?? 443));
}
