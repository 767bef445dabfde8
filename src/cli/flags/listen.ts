import type { Server } from 'node:net';
import { formatHost, type ListenAddress } from './listen-address.ts';
import { CommandError, systemReason } from '../process/command-error.ts';

/** Starts to listen. Throws a {@link CommandError} that names the flag if the address cannot be used. */
export async function listen(server: Server, address: ListenAddress, flag: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address.host, port: address.port }, resolve);
    });
  } catch (error) {
    throw cannotListen(address, flag, error);
  }
}

/** The error of a server that cannot listen, with the flag that chooses another address. */
export function cannotListen({ host, port }: ListenAddress, flag: string, cause: unknown): CommandError {
  return new CommandError(
    `cannot listen on ${formatHost(host)}:${port}: ${systemReason(cause)}`,
    `Stop what uses it, or choose another address with ${flag}; 127.0.0.1:0 takes a free port.`,
    { cause },
  );
}

/** The port of a listening server, which the system chooses if the address leaves it open. */
export function portOf(server: Server, { port }: ListenAddress): number {
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}
