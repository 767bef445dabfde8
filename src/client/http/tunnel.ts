import type { Socket } from 'node:net';
import { TransportError } from './transport.ts';

/** A request to a proxy: a connection to the target. */
export interface Tunnel {
  readonly proxy: URL;
  readonly target: URL;
  /** Gives it up. */
  readonly signal: AbortSignal;
}

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

/** As given, or that of the protocol. */
export function portOf(url: URL): number {
  return Number(url.port || (DEFAULT_PORTS[url.protocol] ?? 443));
}

/** The next owner of the socket handles errors itself; between two listeners nothing does. */
export function keepQuiet(socket: Socket): void {
  socket.on('error', () => undefined);
}

export function refusal(proxy: URL, target: string, why: string): TransportError {
  return new TransportError('refused', `the proxy ${proxy.host} does not connect to ${target}: ${why}`);
}
