import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire between a client and a server that a test can cut, and on which it can lose what the server says. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #answers: 'arrive' | 'are lost' = 'arrive';
  #targetPort: number;
  readonly port: number;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.#targetPort = targetPort;
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    server.on('connection', (client) => {
      const upstream = connect(this.#targetPort, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (bytes) => upstream.write(bytes));
      upstream.on('data', (bytes) => {
        if (this.#answers === 'arrive') client.write(bytes);
      });
    });
  }

  static start(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    return new Promise((settle) => {
      server.listen(0, '127.0.0.1', () => settle(new TcpProxy(server, targetPort)));
    });
  }

  /** Ends all connections and refuses new ones. */
  cut(): Promise<void> {
    return new Promise((settle) => {
      this.#server.close(() => settle());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  /** New connections are made to this port. `leaves`: those that there are stay open. */
  leadTo(targetPort: number, old: 'ends' | 'leaves' = 'ends'): void {
    this.#targetPort = targetPort;
    if (old === 'ends') for (const socket of this.#sockets) socket.destroy();
  }

  /** Requests arrive, and nobody hears what becomes of them. */
  loseAnswers(): void {
    this.#answers = 'are lost';
  }

  mend(): Promise<void> {
    this.#answers = 'arrive';
    return new Promise((settle) => this.#server.listen(this.port, '127.0.0.1', settle));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut();
  }
}
