import type { Socket } from 'node:net';
import { TransportError } from './transport.ts';

/** A request to a proxy for a connection to the target. */
export interface Tunnel {
  readonly proxy: URL;
  readonly target: URL;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
};

/** True if `proxy-url` names a supported proxy: `http`, `https`, `socks5`. */
export function isProxyUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol in DEFAULT_PORTS && new URL(text).hostname !== '';
}

/** The given port, or the default of the protocol. */
export function portOf(url: URL): number {
  return Number(url.port || (DEFAULT_PORTS[url.protocol] ?? 443));
}

/** Handles errors of the socket while it passes from one owner to the next. */
export function keepQuiet(socket: Socket): void {
  socket.on('error', () => undefined);
}

export function refusal(proxy: URL, target: string, why: string): TransportError {
  return new TransportError('refused', `the proxy ${proxy.host} does not connect to ${target}: ${why}`);
}
