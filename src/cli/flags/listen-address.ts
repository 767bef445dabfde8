import { CommandError } from '../process/command-error.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 lets the system pick a free one. */
  readonly port: number;
}

/** Reads HOST:PORT, [IPV6]:PORT, or :PORT, which is 127.0.0.1, not all addresses as in Go: nothing is offered to a network unasked. */
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

/** As it stands in a URL. */
export function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
