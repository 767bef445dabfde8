import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/time/clock.ts';
import { type ClientCertificate, type ConnectOptions, hostOf, parseServer, tlsOptions } from './connect-options.ts';
import { transportErrorOf } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/** Timeout of the handshake, as in client-go. Without it, a server that dies during the handshake leaves a silent socket. */
const OPENING_MS = 10_000;

/** Starts to open a connection to the server. */
export function openSocket(options: ConnectOptions): Socket {
  const { url } = parseServer(options.server);
  return netConnect({ host: hostOf(url), port: portOf(url) });
}

export interface TlsSocketOptions {
  readonly certificate: ClientCertificate | undefined;
  /** The offered protocols in order of preference. */
  readonly protocols: string[];
  /** An existing connection to the server. */
  readonly tunnel?: Socket | undefined;
}

/** The same over TLS. */
export function openTlsSocket(
  options: ConnectOptions,
  { certificate, protocols, tunnel }: TlsSocketOptions,
): TLSSocket {
  const { url } = parseServer(options.server);
  const address = { host: hostOf(url), port: portOf(url) };
  const through = tunnel === undefined ? {} : { socket: tunnel };
  return tlsConnect({ ...tlsOptions(options, certificate), ...address, ...through, ALPNProtocols: protocols });
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}

/** The connection: a socket, or a session on one. */
interface Connection {
  once(event: string, listener: (error: Error) => void): unknown;
  destroy(error?: Error): unknown;
}

/** Resolves with `event`. Rejects with a TransportError if the connection breaks, is closed, or takes longer than ten seconds. */
export function opening(
  connection: Connection,
  event: 'secureConnect' | 'remoteSettings',
  clock: Clock,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = clock.setTimer(OPENING_MS, () => {
      const error = new TransportError(
        'timeout',
        `the server did not open the connection within ${OPENING_MS / 1000} s`,
      );
      reject(error);
      connection.destroy(error);
    });
    const ended = (error: TransportError): void => {
      late.cancel();
      reject(error);
    };
    connection.once(event, () => {
      late.cancel();
      resolve();
    });
    connection.once('error', (error) => ended(transportErrorOf(error)));
    connection.once('close', () => ended(new TransportError('reset', 'the connection was closed before it was open')));
  });
}
