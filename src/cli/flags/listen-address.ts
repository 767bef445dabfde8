import { CommandError } from '../process/command-error.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system choose a free one. */
  readonly port: number;
}

/**
 * Parses HOST:PORT, [IPV6]:PORT, or :PORT. Unlike in Go, :PORT means 127.0.0.1 and not all addresses, so that nothing is exposed to a
 * network by accident.
 */
export function parseListenAddress(text: string, flag = '--listen'): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d+)$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || !Number.isInteger(port) || port > 65_535) {
    throw new CommandError(
      `invalid ${flag} address "${text}"`,
      'Give HOST:PORT, for example 127.0.0.1:6443, or 127.0.0.1:0 to let the system pick a port.',
    );
  }
  return { host: match[1] ?? (match[2] === '' || match[2] === undefined ? '127.0.0.1' : match[2]), port };
}

/** The host in the form of a URL. */
export function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
