import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Sockets that are being opened. undici's client closes only sockets that it has received, and it receives them once they are open: a
 * server that hangs would keep the process for half a minute after the client was destroyed.
 */
export class OpeningSockets {
  readonly #sockets = new Set<Socket>();
  #ended: Error | undefined;

  /** The same connector, but its sockets can be closed before they are open. */
  of(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      // Its type does not declare that it returns the socket.
      const socket = connector(options, (...outcome) => {
        this.#sockets.delete(socket);
        callback(...outcome);
      }) as unknown as Socket;
      // A tunnel may have opened in the moment in which all were closed.
      if (this.#ended === undefined) this.#sockets.add(socket);
      else socket.destroy(this.#ended);
    };
  }

  /** Closes sockets that are being opened, and all later ones. */
  destroy(error: Error): void {
    this.#ended = error;
    for (const socket of this.#sockets) socket.destroy(error);
  }
}
