import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Sockets on their way to the server. undici's client ends those that it was handed, and is handed one when it is open: what a server
 * that hangs never answers would keep the process for half a minute after the client was destroyed.
 */
export class OpeningSockets {
  readonly #sockets = new Set<Socket>();
  #ended: Error | undefined;

  /** The same connector, whose sockets can be ended until they are open. */
  of(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      // Its type does not say that it returns the socket.
      const socket = connector(options, (...outcome) => {
        this.#sockets.delete(socket);
        callback(...outcome);
      }) as unknown as Socket;
      // A tunnel may have been there in the moment in which all was ended.
      if (this.#ended === undefined) this.#sockets.add(socket);
      else socket.destroy(this.#ended);
    };
  }

  /** Those that are being opened, and those that would be opened later. */
  destroy(error: Error): void {
    this.#ended = error;
    for (const socket of this.#sockets) socket.destroy(error);
  }
}
